import { GitProtocolError } from './errors.ts';

/** Ends a section of the protocol. */
export const flushPkt = Buffer.from('0000');

const largest = 65_520;

/** Frames one line; its length may be 65 516 bytes at most. */
export function pktLine(payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  const length = bytes.length + 4;
  if (length > largest) throw new RangeError(`a pkt-line of ${length} bytes`);
  return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0')), bytes]);
}

export interface PktLine {
  /** Null for a flush. */
  payload: Buffer | null;
  /** Where the next line starts. */
  next: number;
}

/** The line at `offset`, or null when more bytes are needed. Throws a GitProtocolError on a wrong length. */
export function readPktLine(buffer: Buffer, offset: number): PktLine | null {
  if (buffer.length < offset + 4) return null;
  const digits = buffer.toString('latin1', offset, offset + 4);
  if (!/^[0-9a-f]{4}$/i.test(digits)) throw new GitProtocolError('a line without a length');
  const length = Number.parseInt(digits, 16);
  if (length === 0) return { payload: null, next: offset + 4 };
  if (length < 4 || length > largest) throw new GitProtocolError(`a line of impossible length ${digits}`);
  const next = offset + length;
  return buffer.length < next ? null : { payload: buffer.subarray(offset + 4, next), next };
}
