import { decode } from './commit.ts';

export interface FilePatch {
  /** Without git's header; null where it is too large to be kept. */
  text: string | null;
  lines: number;
  bytes: number;
}

const begin = Buffer.from('diff --git ');
const binary = 'Binary files ';
const bodies = [Buffer.from('--- '), Buffer.from(binary)];
const newline = 0x0a;

/** Whether a patch says no more than that there are other bytes. */
export function isOfBytes(text: string | null): boolean {
  return text?.startsWith(binary) ?? false;
}

/**
 * Cuts what `git diff -p` writes into the patches of single files, from the pieces in which it arrives. A line of a
 * file never looks like the beginning of the next patch, as it has a sign before it.
 */
export class PatchReader {
  private readonly limit: number;
  private readonly onFile: (patch: FilePatch) => void;
  private hasBegun = false;
  /** Headers are short, so their lines are put together; those of files may be of any length. */
  private isHeader = true;
  private isLineStart = true;
  private header: Buffer = Buffer.alloc(0);
  private kept: Buffer[] = [];
  private bytes = 0;
  private lines = 0;

  /** @param limit bytes from which on a patch is too large. */
  constructor(limit: number, onFile: (patch: FilePatch) => void) {
    this.limit = limit;
    this.onFile = onFile;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const end = rest.indexOf(newline);
      const piece = end === -1 ? rest : rest.subarray(0, end + 1);
      rest = rest.subarray(piece.length);
      this.isHeader ||= this.isLineStart && piece[0] === begin[0];
      this.isLineStart = end !== -1;
      if (this.isHeader) this.readHeader(piece);
      else this.keep(piece);
    }
  }

  /** Everything has been pushed, so the last patch is complete. */
  end(): void {
    if (!this.hasBegun) return;
    const isKept = this.bytes < this.limit;
    const text = isKept ? decodePatch(Buffer.concat(this.kept)) : null;
    this.onFile({ text, lines: this.lines, bytes: this.bytes });
    this.kept = [];
    this.bytes = 0;
    this.lines = 0;
  }

  private readHeader(piece: Buffer): void {
    this.header = this.header.length === 0 ? piece : Buffer.concat([this.header, piece]);
    if (!this.isLineStart) return;
    const line = this.header;
    this.header = Buffer.alloc(0);
    if (startsWith(line, begin)) {
      this.end();
      this.hasBegun = true;
    } else if (bodies.some((start) => startsWith(line, start))) {
      this.isHeader = false;
      this.keep(line);
    }
  }

  private keep(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.isLineStart) this.lines += 1;
    if (this.bytes < this.limit) this.kept.push(piece);
    else this.kept = [];
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}

/** Line by line where it has to be: one file can have lines in several encodings. */
function decodePatch(bytes: Buffer): string {
  const whole = bytes.toString('utf8');
  if (!whole.includes('\ufffd')) return whole;
  const lines = bytes.toString('latin1').split('\n');
  return lines.map((line) => decodeLine(Buffer.from(line, 'latin1'))).join('\n');
}

function decodeLine(line: Buffer): string {
  // Git cuts the text behind the numbers of a hunk wherever it gets too long, also inside a letter.
  return line.subarray(0, 2).toString() === '@@' ? line.toString('utf8') : decode(line);
}
