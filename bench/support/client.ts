import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Call {
  method?: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: Buffer | string | Readable;
}

/** An answer that is not one of success. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A load generator's side of HTTP: connections stay open and are few. */
export class Client {
  readonly #agent: Agent;
  readonly #url: URL;

  constructor(url: string, connections: number) {
    this.#url = new URL(url);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @returns the body. Throws Refused. */
  async call(call: Call): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of await this.#answer(call)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** As `call`, for bodies that are only counted. @returns bytes. */
  async drain(call: Call): Promise<number> {
    let size = 0;
    for await (const piece of await this.#answer(call)) size += piece.length;
    return size;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #answer({ method = 'GET', path, headers = {}, body }: Call): Promise<IncomingMessage> {
    const sent = request(new URL(path, this.#url), { method, headers, agent: this.#agent });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.once('error', reject);
    });
    if (body instanceof Readable) await pipeline(body, sent);
    else sent.end(body);
    const answer = await answered;
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const text = Buffer.concat(await answer.toArray()).toString();
    throw new Refused(status, `${method} ${path}: ${status} ${text}`);
  }
}
