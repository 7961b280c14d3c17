import { connect, type Socket } from 'node:net';

/**
 * One connection that sends the same request again and again. A load generator shares this machine with what it
 * measures, so where the limit has no HTTP in it, its own part of HTTP has to cost next to nothing.
 */
export class Wire {
  readonly #url: URL;
  readonly #request: Buffer;
  #socket: Socket | null = null;

  /** @param body JSON. */
  constructor(url: string, { path, body }: { path: string; body: string }) {
    this.#url = new URL(url);
    const head = `POST ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\nContent-Type: application/json\r\n`;
    this.#request = Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  /** @returns the status of the answer. */
  send(): Promise<number> {
    return new Promise((resolve, reject) => {
      const socket = this.#open();
      let received = '';
      const settle = (outcome: () => void) => {
        socket.removeAllListeners();
        outcome();
      };
      socket.on('data', (text: string) => {
        received += text;
        const status = statusOf(received);
        if (status !== null) settle(() => resolve(status));
      });
      socket.on('error', (error) => settle(() => reject(error)));
      socket.on('close', () => settle(() => reject(new Error('the server closed the connection'))));
      socket.write(this.#request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  /** A server closes connections on which nothing was asked for some seconds. */
  #open(): Socket {
    if (this.#socket?.writable && this.#socket.readable) return this.#socket;
    this.#socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    return this.#socket.setEncoding('latin1');
  }
}

/** The status of an answer once it is complete. */
function statusOf(received: string): number | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const length = /^content-length: (\d+)/im.exec(received)?.[1];
  return received.length < end + 4 + Number(length) ? null : Number(received.slice(9, 12));
}
