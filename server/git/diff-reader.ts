import { type ChangedFile, RawDiffReader } from './diff-raw.ts';
import { GitError } from './errors.ts';
import { type FilePatch, isOfBytes, PatchReader } from './patch-reader.ts';

export interface FileDiff extends ChangedFile {
  /**
   * From the `---` line on, or `Binary files … differ`. Empty where only the name or the mode changed, for an empty
   * file, and where it is left out.
   */
  diff: string;
  /** There is a diff, but it is left out. */
  isTooLarge: boolean;
}

/** How much of a diff is held. */
export interface DiffSize {
  /** The diff of a file from so many bytes on is left out. */
  fileBytes: number;
  /** Files after so many are left out. */
  files: number;
  /** All diffs together; the one that would go beyond, and those after it, are left out. */
  lines: number;
  bytes: number;
}

/**
 * Reads `git diff-tree --raw -p -z` from the pieces in which it arrives: the list of files, then a patch of each in
 * the same order. Names are taken from the list, where they stand as they are.
 */
export class DiffReader {
  private readonly size: DiffSize;
  private readonly raw: RawDiffReader;
  private readonly patches: PatchReader;
  /** By the place of the file; null for a diff that is too large. */
  private readonly texts: (string | null)[] = [];
  private isListed = false;
  private lines = 0;
  private bytes = 0;
  private hasOverflown = false;

  constructor(size: DiffSize) {
    this.size = size;
    this.raw = new RawDiffReader(size.files);
    this.patches = new PatchReader(size.fileBytes, (patch) => this.add(patch));
  }

  /** Nothing that follows would be kept: git may be ended. */
  get isFull(): boolean {
    return (
      this.hasOverflown || (this.raw.isCut && this.texts.length >= this.raw.files.length && this.isListed)
    );
  }

  /** Files or diffs are left out because there is too much in all. */
  get isIncomplete(): boolean {
    return this.hasOverflown || this.raw.isCut;
  }

  /** Throws a GitError on what is no such output. */
  push(chunk: Buffer): void {
    const rest = this.isListed ? chunk : this.readList(chunk);
    if (rest !== null) this.patches.push(rest);
  }

  /** Git has come to its end by itself. */
  end(): void {
    this.patches.end();
  }

  /** Ids of all blobs that git calls binary: those that are, and those that it finds too big to look into. */
  binaryIds(): Set<string> {
    return new Set(
      this.raw.files.flatMap(({ ids }, index) => (isOfBytes(this.texts[index] ?? null) ? ids : [])),
    );
  }

  /**
   * Those whose diff has not been read to its end stand without it.
   *
   * @param big which of the binary ones git has not looked into.
   */
  files(big: ReadonlySet<string>): FileDiff[] {
    return this.raw.files.map(({ file, ids }, index) => {
      const text = this.texts[index] ?? null;
      const diff = isOfBytes(text) && ids.some((id) => big.has(id)) ? null : text;
      return { ...file, diff: diff ?? '', isTooLarge: diff === null && file.hasNewContent };
    });
  }

  private readList(chunk: Buffer): Buffer | null {
    const rest = this.raw.push(chunk);
    this.isListed = rest !== null;
    if (!this.raw.isCut) this.count({ lines: 0, bytes: chunk.length - (rest?.length ?? 0) });
    return rest;
  }

  private add({ text, lines, bytes }: FilePatch): void {
    if (this.isFull) return;
    if (this.texts.length === this.raw.files.length) {
      throw new GitError({ attempted: 'read a diff', stderr: 'there are more patches than files' });
    }
    if (text !== null) this.count({ lines, bytes });
    this.texts.push(this.hasOverflown ? null : text);
  }

  private count({ lines, bytes }: { lines: number; bytes: number }): void {
    this.lines += lines;
    this.bytes += bytes;
    this.hasOverflown ||= this.lines > this.size.lines || this.bytes > this.size.bytes;
  }
}
