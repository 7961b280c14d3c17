import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { selfSigned } from './self-signed.ts';

export interface Received<T = Record<string, unknown>> {
  path: string;
  headers: IncomingHttpHeaders;
  body: T;
}

type Answering = (response: ServerResponse, received: Received) => void;

/** A server that hooks send to. Each test takes paths of its own on it. */
export class HookReceiver {
  readonly #received: Received[] = [];
  readonly #answers = new Map<string, Answering>();
  readonly #server;

  constructor({ tls = false } = {}) {
    const listener: RequestListener = async (request, response) => {
      let text = '';
      for await (const part of request) text += part;
      const path = request.url ?? '';
      const received = { path, headers: request.headers, body: JSON.parse(text) };
      this.#received.push(received);
      const answer = this.#answers.get(path);
      if (answer) answer(response, received);
      else response.end('thanks');
    };
    this.#server = tls ? createTlsServer(selfSigned, listener) : createServer(listener);
  }

  async start(port = 0): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(port, '127.0.0.1', done));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** How requests to this path are answered from now on. */
  answer(path: string, answering: Answering | number): void {
    const fixed: Answering = (response) => response.writeHead(Number(answering)).end();
    this.#answers.set(path, typeof answering === 'number' ? fixed : answering);
  }

  /** What came to this path, oldest first. */
  at<T = Record<string, unknown>>(path: string): Received<T>[] {
    return this.#received.filter((received) => received.path === path) as Received<T>[];
  }
}

/** A receiver for the tests of a file. Call at the top of it. */
export function withReceiver(options: { tls?: boolean } = {}): HookReceiver {
  const receiver = new HookReceiver(options);
  test.serial.before(() => receiver.start());
  test.after.always(() => receiver.stop());
  return receiver;
}
