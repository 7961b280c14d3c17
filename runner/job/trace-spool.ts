import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The masked trace of one build, kept on disk until the server has all of it. */
export class TraceSpool {
  readonly #file: FileHandle;
  /** Bytes in the file that count. */
  #stored = 0;
  /** What comes after them once the disk has failed. */
  #rest = Buffer.alloc(0);
  #fault: Error | null = null;
  #isClosed = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Starts an empty trace; what an earlier build left at this path is dropped. */
  static async create(path: string): Promise<TraceSpool> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return new TraceSpool(await open(path, 'w+', 0o600));
  }

  /** Bytes. */
  get size(): number {
    return this.#stored + this.#rest.length;
  }

  /**
   * Calls must follow one another.
   *
   * @throws Error with a text for the trace when the disk takes no more, now and ever after.
   */
  async append(bytes: Buffer): Promise<void> {
    if (this.#fault) throw this.#fault;
    try {
      await this.#write(bytes);
    } catch (error) {
      const text = `the runner cannot store the trace: ${(error as Error).message}`;
      this.#fault = new Error(text, { cause: error });
      // Half of the bytes may be there; they do not count. A disk that is full can be cut all the same.
      await this.#file.truncate(this.#stored).catch(() => undefined);
      throw this.#fault;
    }
    this.#stored += bytes.length;
  }

  async #write(bytes: Buffer): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const result = await this.#file.write(bytes, written, bytes.length - written, this.#stored + written);
      written += result.bytesWritten;
    }
  }

  /** As `append`, but takes to memory what the disk does not; for the few words that must not be lost. */
  async appendAnyway(bytes: Buffer): Promise<void> {
    try {
      await this.append(bytes);
    } catch {
      // The build is failed for it at its next output.
      this.#rest = Buffer.concat([this.#rest, bytes]);
    }
  }

  /** Up to `limit` bytes from `offset`. */
  async read(offset: number, limit: number): Promise<Buffer> {
    const start = Math.min(offset, this.#stored);
    const stored = await this.#readFile(start, Math.min(limit, this.#stored - start));
    if (start + stored.length < this.#stored) return stored;
    const rest = this.#rest.subarray(Math.max(0, offset - this.#stored));
    return Buffer.concat([stored, rest.subarray(0, limit - stored.length)]);
  }

  async #readFile(offset: number, length: number): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#file.read(buffer, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file.close();
  }
}
