/** Cuts the frame headers out of the output of a container without terminal, however the chunks fall. */
export class FrameReader {
  private header = Buffer.alloc(0);
  private remaining = 0;

  /** The parts of stdout and stderr inside a chunk, in order. */
  *read(chunk: Buffer): Generator<Buffer> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.remaining === 0) {
        rest = this.readHeader(rest);
        continue;
      }
      const payload = rest.subarray(0, this.remaining);
      this.remaining -= payload.length;
      rest = rest.subarray(payload.length);
      yield payload;
    }
  }

  /** Eight bytes: number of the stream, three zeros, length of what follows. */
  private readHeader(chunk: Buffer): Buffer {
    const missing = 8 - this.header.length;
    this.header = Buffer.concat([this.header, chunk.subarray(0, missing)]);
    if (this.header.length === 8) {
      this.remaining = this.header.readUInt32BE(4);
      this.header = Buffer.alloc(0);
    }
    return chunk.subarray(missing);
  }
}

/** Text of a whole log, as the engine gives it for a container without terminal. */
export function plainLog(log: Buffer): string {
  return Buffer.concat([...new FrameReader().read(log)]).toString();
}
