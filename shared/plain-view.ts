/** A text as it reads without what was put into it for a line's or a URL's sake. */
export interface PlainView {
  bytes: Buffer;
  /** Where each byte of the view starts and ends in the text. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** Of the text, in bytes. */
  length: number;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const percent = 0x25;
/** Bytes of the end of a line. */
const longestBreak = 2;

/** The text without line breaks, as encoders put them in; empty lines are no such breaks. */
export function withoutBreaks(text: Buffer): PlainView {
  return plainView(text, false);
}

/** The text without line breaks and URL encoding, or null when nothing in it is encoded. */
export function withoutEscapes(text: Buffer): PlainView | null {
  return text.includes(percent) ? plainView(text, true) : null;
}

function plainView(text: Buffer, isDecoded: boolean): PlainView {
  const bytes = Buffer.allocUnsafe(text.length);
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  let size = 0;
  let breaks = 0;
  for (let at = 0; at < text.length; at += 1) {
    let byte = text[at] ?? 0;
    const start = at;
    if (byte === percent && isDecoded) {
      const decoded = readEscape(text, at);
      if (decoded !== null) {
        byte = decoded;
        at += 2;
      }
    }
    breaks = byte === newline || byte === carriageReturn ? breaks + 1 : 0;
    if (breaks > 0 && breaks <= longestBreak) continue;
    bytes[size] = byte;
    starts[size] = start;
    ends[size] = at + 1;
    size += 1;
  }
  return { bytes: bytes.subarray(0, size), starts, ends, length: text.length };
}

function readEscape(text: Buffer, at: number): number | null {
  const high = hexDigit(text[at + 1]);
  const low = hexDigit(text[at + 2]);
  return high === null || low === null ? null : high * 16 + low;
}

function hexDigit(byte: number | undefined): number | null {
  if (byte === undefined) return null;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : null;
}
