import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which a test sends what no library would. */
export class RawSocket {
  readonly socket: Socket;
  /** Everything that came so far. */
  received = '';
  isClosed = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.received += text;
    });
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    // What cannot be sent any more is not of interest: the answer is.
    this.socket.on('error', () => undefined);
  }

  /** Sends something, and goes on when it is out or cannot be sent any more. */
  async send(bytes: string | Buffer): Promise<void> {
    if (this.isClosed) return;
    await new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()));
  }

  /** Waits for so many answers, or for the end of the connection. */
  async answers(count = 1): Promise<RawSocketAnswer[]> {
    const deadline = setTimeout(() => this.socket.destroy(new Error('no answer')), 60_000);
    while (!this.isClosed && readAnswers(this.received).length < count) {
      const changed = new AbortController();
      const { signal } = changed;
      const changes = ['data', 'close'].map((name) =>
        once(this.socket, name, { signal }).catch(() => undefined),
      );
      await Promise.race(changes);
      changed.abort();
    }
    clearTimeout(deadline);
    return readAnswers(this.received);
  }

  close(): void {
    this.socket.destroy();
  }
}

export interface RawSocketAnswer {
  status: number;
  /** In small letters. */
  head: string;
  body: string;
}

/** One exchange on a connection of its own: sends everything and takes the answers. */
export async function exchange(url: string, bytes: string | Buffer, count = 1): Promise<RawSocketAnswer[]> {
  const connection = new RawSocket(url);
  try {
    await connection.send(bytes);
    return await connection.answers(count);
  } finally {
    connection.close();
  }
}

/** Complete answers only. Those with no length are taken to have no body. */
function readAnswers(text: string): RawSocketAnswer[] {
  const answers: RawSocketAnswer[] = [];
  for (let rest = text; ; ) {
    const end = rest.indexOf('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(rest)?.[1]);
    if (end === -1 || !status) return answers;
    const head = rest.slice(0, end).toLowerCase();
    const length = status === 100 ? 0 : Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    answers.push({ status, head, body });
    rest = rest.slice(end + 4 + length);
  }
}
