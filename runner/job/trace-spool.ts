import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The masked trace of one build, kept on disk until the server has all of it. */
export class TraceSpool {
  readonly #file: FileHandle;
  #size = 0;
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
    return this.#size;
  }

  /** Calls must follow one another. */
  async append(bytes: Buffer): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const result = await this.#file.write(bytes, written, bytes.length - written, this.#size + written);
      written += result.bytesWritten;
    }
    this.#size += bytes.length;
  }

  /** Up to `limit` bytes from `offset`. */
  async read(offset: number, limit: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(limit, this.#size - offset));
    const buffer = Buffer.alloc(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await this.#file.read(buffer, filled, wanted - filled, offset + filled);
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
