import { connect, type Socket } from 'node:net';

/**
 * One connection that sends the same request again and again. A load generator shares this machine with what it
 * measures, so where the limit has no HTTP in it, its own part of HTTP has to cost next to nothing.
 */
export class Wire {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #received = '';
  #answer: ((status: number) => void) | null = null;
  #fail: ((error: Error) => void) | null = null;

  /** @param body JSON. */
  constructor(url: string, { path, body }: { path: string; body: string }) {
    const { hostname, port, host } = new URL(url);
    const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`;
    this.#request = Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', (error) => this.#fail?.(error));
    this.#socket.on('close', () => this.#fail?.(new Error('the server closed the connection')));
  }

  /** @returns the status of the answer. */
  send(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
      this.#socket.write(this.#request);
    });
  }

  close(): void {
    this.#fail = null;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = /^content-length: (\d+)/im.exec(this.#received)?.[1];
    if (this.#received.length < end + 4 + Number(length)) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#answer?.(status);
  }
}
