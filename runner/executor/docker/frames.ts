/** Part of one output of a container. */
export interface Frame {
  isError: boolean;
  payload: Buffer;
}

/** Number of stderr in the header of a frame. */
const errorStream = 2;

/** Cuts the frame headers out of the output of a container without terminal, however the chunks fall. */
export class FrameReader {
  private header = Buffer.alloc(0);
  private remaining = 0;
  private isError = false;

  /** The parts of stdout and stderr inside a chunk, in order. */
  *read(chunk: Buffer): Generator<Frame> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.remaining === 0) {
        rest = this.readHeader(rest);
        continue;
      }
      const payload = rest.subarray(0, this.remaining);
      this.remaining -= payload.length;
      rest = rest.subarray(payload.length);
      yield { isError: this.isError, payload };
    }
  }

  /** Eight bytes: number of the stream, three zeros, length of what follows. */
  private readHeader(chunk: Buffer): Buffer {
    const missing = 8 - this.header.length;
    this.header = Buffer.concat([this.header, chunk.subarray(0, missing)]);
    if (this.header.length === 8) {
      this.isError = this.header[0] === errorStream;
      this.remaining = this.header.readUInt32BE(4);
      this.header = Buffer.alloc(0);
    }
    return chunk.subarray(missing);
  }
}

/** Text of a whole log, as the engine gives it for a container without terminal. */
export function plainLog(log: Buffer): string {
  const payloads = [...new FrameReader().read(log)].map(({ payload }) => payload);
  return Buffer.concat(payloads).toString();
}
