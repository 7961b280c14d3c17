import { randomBytes } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ImportFault } from './import-fault.ts';

/** Addresses of a host that may be connected to. @throws Error with a text for people where there is none. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

export interface RelayRequest {
  /** `http` or `https`, without credentials. */
  url: string;
  /** `user:password`, or null. */
  credentials: string | null;
  resolve: Resolve;
}

export interface Relay {
  /** What git fetches from. */
  url: string;
  /** A header that git has to send: other programs of this machine must not use the relay. */
  header: string;
  /** What went wrong on the way, once it did. */
  fault(): ImportFault | null;
  close(): Promise<void>;
}

const secretHeader = 'x-hearth-relay';
const advertisement = 'application/x-git-upload-pack-advertisement';
const redirectLimit = 5;
/** A server that computes a pack says so every few seconds. */
const silenceMs = 120_000;
const passedOn = ['accept', 'accept-encoding', 'content-encoding', 'content-type', 'git-protocol'];

/**
 * Stands between git and a server that a user has named. Here alone connections to it are made: to addresses that
 * were checked, also after redirects, with credentials that git never sees, and for nothing but a fetch by the
 * smart protocol.
 */
export async function openRelay(request: RelayRequest): Promise<Relay> {
  const secret = randomBytes(32).toString('base64url');
  const upstream = new Upstream(request);
  const server = createServer((incoming, response) => {
    if (incoming.headers[secretHeader] !== secret) response.writeHead(404).end();
    else void serve(upstream, incoming, response);
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/repository`,
    header: `${secretHeader}: ${secret}`,
    fault: () => upstream.fault,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function serve(upstream: Upstream, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  // Git goes away when it is ended.
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const answer = await answerOf(upstream, incoming, gone.signal);
    if (!answer) {
      response.writeHead(404).end();
      return;
    }
    const { 'content-type': type, 'content-encoding': encoding } = answer.headers;
    response.writeHead(200, {
      ...(type === undefined ? {} : { 'Content-Type': type }),
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    });
    await pipeline(answer, response);
  } catch (error) {
    if (!gone.signal.aborted) upstream.note(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  }
}

async function answerOf(
  upstream: Upstream,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
  const headers: Record<string, string> = {};
  for (const name of passedOn) {
    const value = incoming.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  if (incoming.method === 'GET' && incoming.url === '/repository/info/refs?service=git-upload-pack') {
    return upstream.refs(headers, signal);
  }
  if (incoming.method === 'POST' && incoming.url === '/repository/git-upload-pack') {
    return upstream.pack({ headers, body: incoming }, signal);
  }
  return null;
}

interface Sent {
  headers: Record<string, string>;
  body?: IncomingMessage;
}

/** The server that is imported from. */
class Upstream {
  readonly #credentials: string | null;
  readonly #resolve: Resolve;
  readonly #origin: string;
  /** Where the repository is, after redirects. */
  #base: URL;
  #fault: ImportFault | null = null;

  constructor({ url, credentials, resolve }: RelayRequest) {
    this.#base = new URL(url);
    this.#origin = this.#base.origin;
    this.#credentials = credentials;
    this.#resolve = resolve;
  }

  get fault(): ImportFault | null {
    return this.#fault;
  }

  /** Keeps the first one: what follows from it says less. */
  note(error: unknown): void {
    this.#fault ??= error instanceof ImportFault ? error : connectionFault(error, this.#base);
  }

  async refs(headers: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    for (let redirects = 0; redirects <= redirectLimit; redirects += 1) {
      const url = below(this.#base, '/info/refs');
      url.searchParams.set('service', 'git-upload-pack');
      const answer = await this.#send('GET', url, { headers }, signal);
      const { statusCode = 0, headers: given } = answer;
      if (statusCode < 300 || statusCode >= 400 || given.location === undefined) {
        return accepted(answer, { type: advertisement, url });
      }
      answer.destroy();
      this.#base = redirected(given.location, url);
    }
    throw new ImportFault('the server redirects too often');
  }

  async pack(sent: Sent, signal: AbortSignal): Promise<IncomingMessage> {
    const url = below(this.#base, '/git-upload-pack');
    const answer = await this.#send('POST', url, sent, signal);
    return accepted(answer, { type: 'application/x-git-upload-pack-result', url });
  }

  async #send(
    method: string,
    url: URL,
    { headers, body }: Sent,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const addresses = await this.#resolve(url.hostname);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    // Another host gets no password, and neither does the same one without encryption.
    const auth = url.origin === this.#origin && this.#credentials !== null ? { auth: this.#credentials } : {};
    const request = send(url, {
      method,
      headers: { ...headers, 'User-Agent': 'git/2 (Hearth)' },
      lookup: pinned(addresses),
      agent: false,
      signal,
      ...auth,
    });
    request.setTimeout(silenceMs, () => {
      request.destroy(new ImportFault(`${url.hostname} has sent nothing for ${silenceMs / 1000} seconds`));
    });
    const answer = new Promise<IncomingMessage>((done, fail) => {
      request.once('response', done);
      // Always heard: one that comes after the answer shows itself there.
      request.on('error', fail);
    });
    if (body) body.pipe(request);
    else request.end();
    return answer;
  }
}

function pinned(addresses: LookupAddress[]): LookupFunction {
  return (_name, { all }, done) => {
    const [first] = addresses;
    if (all || !first) done(null, addresses);
    else done(null, first.address, first.family);
  };
}

function below(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return url;
}

function redirected(location: string, from: URL): URL {
  const url = URL.canParse(location, from.href) ? new URL(location, from) : null;
  if (!url || !/^https?:$/.test(url.protocol) || !url.pathname.endsWith('/info/refs')) {
    throw new ImportFault('the server redirects to something that is no repository');
  }
  url.pathname = url.pathname.slice(0, -'/info/refs'.length);
  url.searchParams.delete('service');
  url.username = '';
  url.password = '';
  return url;
}

/** @throws ImportFault for every answer but the one that git can go on with. */
function accepted(answer: IncomingMessage, { type, url }: { type: string; url: URL }): IncomingMessage {
  const { statusCode = 0, headers } = answer;
  if (statusCode === 200 && headers['content-type']?.toLowerCase().startsWith(type)) return answer;
  answer.destroy();
  if (statusCode === 200) throw new ImportFault(`${url.host} does not answer as a git server does`);
  if (statusCode === 401) throw new ImportFault(`${url.host} asks for another user name and password`);
  if (statusCode === 403) throw new ImportFault(`${url.host} does not let this server read the repository`);
  if (statusCode === 404) throw new ImportFault(`${url.host} has no repository at this address`);
  throw new ImportFault(`${url.host} answered with status ${statusCode}`);
}

function connectionFault(error: unknown, { host }: URL): ImportFault {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new ImportFault(`${host} is not known to the name servers`, { cause: error });
  }
  return new ImportFault(`the connection to ${host} failed: ${code ?? message}`, { cause: error });
}
