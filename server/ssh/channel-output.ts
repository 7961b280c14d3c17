import type { Socket } from 'node:net';
import type { Connection, ServerChannel } from 'ssh2';

/** Bytes that may wait for a slow network, per connection. */
const mostWaiting = 1024 * 1024;

export interface OutputParts {
  channel: ServerChannel;
  client: Connection;
  socket: Socket;
  /** Ends every wait. */
  signal: AbortSignal;
  onTaken(): void;
}

/**
 * Writes to one channel no faster than its client takes it. The channel itself looks at the window only that the client
 * grants, which may be gigabytes, and not at what the network takes or what waits for a change of keys.
 */
export class ChannelOutput {
  readonly #parts: OutputParts;

  constructor(parts: OutputParts) {
    this.#parts = parts;
  }

  /** Sends everything; stops early when the signal fires. */
  async sendAll(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of chunks) {
      await this.#send(chunk);
      if (this.#parts.signal.aborted) return;
    }
  }

  async #send(chunk: Buffer): Promise<void> {
    const { channel, client, socket, onTaken } = this.#parts;
    const before = socket.bytesWritten;
    await this.#until((done) => channel.write(chunk, done));
    if (socket.bytesWritten - before < chunk.length) await this.#until((done) => client.once('rekey', done));
    if (socket.writableLength > mostWaiting) await this.#until((done) => socket.once('drain', done));
    onTaken();
  }

  /** Tells the person at the client. Not while `sendAll` is at work. */
  async complain(text: string): Promise<void> {
    const { channel } = this.#parts;
    // What waited for the window is kept by the channel, which would send it again when this text has to wait too.
    Object.assign(channel, { _chunk: undefined });
    await this.#until((done) => channel.stderr.write(text.replace(/\n?$/, '\n'), done));
  }

  /** Ends the command with its exit code, and the channel. */
  end(code: number): void {
    const { channel, signal } = this.#parts;
    channel.exit(code);
    channel.end();
    // Something may still wait for a window that will not come.
    if (signal.aborted) channel.close();
  }

  #until(start: (done: () => void) => void): Promise<void> {
    const { signal } = this.#parts;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      start(done);
    });
  }
}
