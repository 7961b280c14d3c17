import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { BuildPayload } from '../../shared/protocol/build.ts';

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** What a test puts in front of the usual answers. @returns whether it has answered. */
export type Intercept = (request: SeenRequest, response: ServerResponse) => boolean;

/** State of one build as the server sees it. */
export interface FakeBuild {
  payload: BuildPayload;
  trace: Buffer;
  status: string;
  /** Body of the last upload, multipart and all. */
  upload: Buffer | null;
}

/** The runner API over real HTTP, without a forge behind it. */
export class FakeCiServer {
  readonly seen: SeenRequest[] = [];
  readonly builds = new Map<number, FakeBuild>();
  readonly archives = new Map<number, Buffer>();
  readonly queue: BuildPayload[] = [];
  intercept: Intercept = () => false;
  /** Claims that are held until a build comes. */
  waiting = 0;
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: Error) => response.destroy(error));
  });

  async start(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A build that runs already, for tests that do not claim. */
  add(payload: BuildPayload): FakeBuild {
    const build: FakeBuild = { payload, trace: Buffer.alloc(0), status: 'running', upload: null };
    this.builds.set(payload.id, build);
    return build;
  }

  enqueue(payload: BuildPayload): FakeBuild {
    const build = this.add(payload);
    build.status = 'pending';
    this.queue.push(payload);
    this.#events.emit('change');
    return build;
  }

  /** Waits until the condition holds; it is looked at after every request, and in between. */
  async until(condition: () => boolean): Promise<void> {
    const limit = AbortSignal.timeout(60_000);
    while (!condition()) {
      limit.throwIfAborted();
      const signal = AbortSignal.timeout(20);
      await once(this.#events, 'change', { signal }).catch(() => {});
    }
  }

  requests(method: string, path: RegExp): SeenRequest[] {
    return this.seen.filter((request) => request.method === method && path.test(request.path));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const seen = {
      method: request.method ?? '',
      path: (request.url ?? '').replace(/^\/ci\/api\/v1/, ''),
      headers: request.headers,
      body,
    };
    this.seen.push(seen);
    if (!this.intercept(seen, response)) await this.answer(seen, response);
    this.#events.emit('change');
  }

  /** The usual answer. */
  async answer(seen: SeenRequest, response: ServerResponse): Promise<void> {
    const [, kind, id, part] = seen.path.replace(/\?.*/, '').split('/');
    if (kind === 'runners') return this.#runners(seen, response);
    if (id === 'register') return this.#claim(seen, response);
    const build = this.builds.get(Number(id));
    if (part === 'artifacts' && seen.method === 'GET') return this.#download(Number(id), response);
    if (!build) return reply(response, 404);
    if (part === 'trace.txt') return this.#append(build, seen, response);
    if (part === 'artifacts') return this.#upload(build, seen, response);
    return this.#update(build, seen, response);
  }

  #runners(seen: SeenRequest, response: ServerResponse): void {
    if (json(seen).token === 'wrong') reply(response, 403);
    else if (seen.method === 'DELETE') reply(response, 200);
    else reply(response, 201, { id: 7, token: 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5' });
  }

  async #claim(seen: SeenRequest, response: ServerResponse): Promise<void> {
    const wait = Number(/wait=(\d+)/.exec(String(seen.headers.prefer))?.[1] ?? 0);
    const signal = AbortSignal.timeout(wait * 1000);
    const isOpen = () => !signal.aborted && !response.destroyed;
    response.once('close', () => this.#events.emit('change'));
    this.waiting += 1;
    while (this.queue.length === 0 && isOpen()) {
      await once(this.#events, 'change', { signal }).catch(() => {});
    }
    this.waiting -= 1;
    const payload = response.destroyed ? undefined : this.queue.shift();
    if (!payload) {
      reply(response, 404);
      return;
    }
    const build = this.builds.get(payload.id);
    if (build) build.status = 'running';
    reply(response, 201, payload);
  }

  #append(build: FakeBuild, seen: SeenRequest, response: ServerResponse): void {
    const start = Number.parseInt(String(seen.headers['content-range']), 10);
    const isInOrder = start === build.trace.length;
    if (isInOrder) build.trace = Buffer.concat([build.trace, seen.body]);
    response.setHeader('Range', `0-${build.trace.length}`);
    response.setHeader('Build-Status', build.status);
    reply(response, isInOrder ? 202 : 416);
  }

  #update(build: FakeBuild, seen: SeenRequest, response: ServerResponse): void {
    if (build.status !== 'running') {
      reply(response, 404);
      return;
    }
    const { state, trace } = json(seen);
    if (typeof trace === 'string') build.trace = Buffer.from(trace);
    if (state === 'success' || state === 'failed') build.status = state;
    reply(response, 200);
  }

  #upload(build: FakeBuild, seen: SeenRequest, response: ServerResponse): void {
    build.upload = seen.body;
    reply(response, 201, {});
  }

  #download(id: number, response: ServerResponse): void {
    const archive = this.archives.get(id);
    if (archive === undefined) reply(response, 404);
    else response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(archive);
  }
}

export function reply(
  response: ServerResponse,
  status: number,
  body: object = { message: `${status}` },
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(status === 204 ? undefined : JSON.stringify(body));
}

function json(seen: SeenRequest): Record<string, unknown> {
  return JSON.parse(seen.body.toString()) as Record<string, unknown>;
}

/** The file inside the one part of a multipart body. */
export function partContent(body: Buffer): Buffer {
  const start = body.indexOf('\r\n\r\n') + 4;
  return body.subarray(start, body.lastIndexOf('\r\n--'));
}
