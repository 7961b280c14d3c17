import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { GitProtocolError } from './errors.ts';
import { readPktLine } from './pkt-line.ts';
import { shownName } from './tree.ts';

/** One ref a client wants to move. The name is what the client sent: git refuses improper ones itself. */
export interface PushCommand {
  oldSha: string;
  newSha: string;
  ref: string;
  /** Set for a name that is no UTF-8: its bytes, one per character. `ref` is how it is shown then. */
  rawRef?: string;
}

export interface PushHead {
  commands: PushCommand[];
  capabilities: string[];
  pushOptions: string[];
  /** Commits at which the client's history is cut off. */
  shallow: string[];
}

const defaultLimit = 4 * 1024 * 1024;

/** Reads the head of a push piece by piece, up to where the pack starts. */
export class PushHeadReader {
  readonly head: PushHead = { commands: [], capabilities: [], pushOptions: [], shallow: [] };
  private parts: Buffer[] = [];
  private held = 0;
  /** Bytes without which the next line cannot be read; until then nothing is joined, however small the pieces. */
  private needed = 4;
  private section: 'commands' | 'options' | 'over' = 'commands';
  private size = 0;
  private readonly limit: number;

  /** `limit`: bytes the head may have. */
  constructor(limit: number = defaultLimit) {
    this.limit = limit;
  }

  /** Takes the next bytes of the body; true once the head is complete. Throws a GitProtocolError. */
  push(chunk: Buffer): boolean {
    this.parts.push(chunk);
    this.held += chunk.length;
    if (this.held < this.needed) return false;
    let buffer = Buffer.concat(this.parts);
    while (this.section !== 'over') {
      const line = readPktLine(buffer, 0);
      if (line === null) break;
      this.size += line.next;
      if (this.size > this.limit)
        throw new GitProtocolError(`a push of more than ${this.limit} bytes of refs`);
      this.take(line.payload);
      buffer = buffer.subarray(line.next);
    }
    this.parts = [buffer];
    this.held = buffer.length;
    this.needed = buffer.length < 4 ? 4 : Number.parseInt(buffer.toString('latin1', 0, 4), 16);
    return this.section === 'over';
  }

  private take(payload: Buffer | null): void {
    if (payload === null) {
      const hasOptions = this.section === 'commands' && this.head.capabilities.includes('push-options');
      this.section = hasOptions ? 'options' : 'over';
      return;
    }
    const line = payload.toString('latin1').replace(/\n$/, '');
    if (this.section === 'options') this.head.pushOptions.push(shownName(line));
    else this.takeCommand(line);
  }

  /** @param line bytes, one per character. */
  private takeCommand(line: string): void {
    const shallow = /^shallow ([0-9a-f]{40})$/.exec(line);
    if (shallow?.[1] !== undefined) {
      this.head.shallow.push(shallow[1]);
      return;
    }
    const [command = '', capabilities] = line.split('\0');
    const match = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n]+)$/.exec(command);
    if (match === null) throw new GitProtocolError('a push command that is none');
    const [, oldSha = '', newSha = '', rawRef = ''] = match;
    if (this.head.commands.length === 0) {
      this.head.capabilities = (capabilities ?? '').split(' ').filter((capability) => capability !== '');
    }
    const isText = isUtf8(Buffer.from(rawRef, 'latin1'));
    this.head.commands.push({ oldSha, newSha, ref: shownName(rawRef), ...(isText ? {} : { rawRef }) });
  }
}

/**
 * Reads which refs a push wants to move, and gives back a stream of the whole body for git. A body that is a
 * bare flush, by which clients find out whether they may push, has no commands. Throws a GitProtocolError on
 * anything malformed; the source is left open then, so that the caller can still answer.
 */
export async function readCommands(
  source: Readable,
  options: { limit?: number } = {},
): Promise<PushHead & { replay: Readable }> {
  const reader = new PushHeadReader(options.limit);
  const chunks = source.iterator({ destroyOnReturn: false });
  const seen = new SeenChunks();
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done) throw new GitProtocolError('a push that ends among its commands');
      const chunk = Buffer.from(next.value);
      seen.push(chunk);
      if (reader.push(chunk)) break;
    }
  } catch (error) {
    await chunks.return?.();
    throw error;
  }
  return { ...reader.head, replay: Readable.from(replay(seen, chunks), { objectMode: false }) };
}

/** Joins small pieces: a client that sends single bytes must not make one object out of each. */
class SeenChunks {
  private readonly joined: Buffer[] = [];
  private recent: Buffer[] = [];

  push(chunk: Buffer): void {
    this.recent.push(chunk);
    if (this.recent.length >= 256) this.join();
  }

  takeAll(): Buffer[] {
    this.join();
    return this.joined.splice(0);
  }

  private join(): void {
    this.joined.push(Buffer.concat(this.recent));
    this.recent = [];
  }
}

async function* replay(seen: SeenChunks, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* seen.takeAll();
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
