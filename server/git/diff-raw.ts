import { decode } from './commit.ts';
import { GitError } from './errors.ts';

/** What changed with one file. A file that became a link, or a submodule, went away and came anew: two entries. */
export interface ChangedFile {
  oldPath: string;
  newPath: string;
  /** Octal; `0` where there is no file on that side. */
  oldMode: string;
  newMode: string;
  isNew: boolean;
  isRenamed: boolean;
  isDeleted: boolean;
  /** False where only the name or the mode changed. */
  hasNewContent: boolean;
}

/** A file of the list with the ids of what is in it, or was before; without those of a side where there is none. */
interface ListedFile {
  file: ChangedFile;
  ids: readonly string[];
}

const record = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([ADMRT])\d*$/;

/** Reads the `--raw -z` part of a diff from the pieces in which it arrives. */
export class RawDiffReader {
  readonly files: ListedFile[] = [];
  /** Set when there were more files than are kept. */
  isCut = false;
  private readonly limit: number;
  private pending: Buffer = Buffer.alloc(0);
  private words: Buffer[] = [];

  /** @param limit how many files to keep. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** @returns what follows the list once that is complete, else null. Throws a GitError on what is no such list. */
  push(chunk: Buffer): Buffer | null {
    let rest: Buffer = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      const word = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (word.length === 0 && this.words.length === 0) return rest;
      this.take(word);
    }
    this.pending = rest;
    return null;
  }

  private take(word: Buffer): void {
    this.words.push(word);
    const [head = word, path, renamed] = this.words;
    const text = head.toString('latin1');
    const match = record.exec(text);
    if (match === null) {
      throw new GitError({
        attempted: 'read a diff',
        stderr: `unexpected ${JSON.stringify(text.slice(0, 200))}`,
      });
    }
    const last = match[5] === 'R' ? renamed : path;
    if (path === undefined || last === undefined) return;
    this.words = [];
    const changes = toFiles(match, { oldPath: decode(path), newPath: decode(last) });
    this.isCut ||= this.files.length + changes.length > this.limit;
    if (!this.isCut) this.files.push(...changes);
  }
}

function toFiles(match: RegExpExecArray, paths: { oldPath: string; newPath: string }): ListedFile[] {
  const [, oldMode = '', newMode = '', oldId = '', newId = '', status] = match;
  const file = { ...paths, isNew: false, isRenamed: false, isDeleted: false, hasNewContent: oldId !== newId };
  const gone = { file: { ...file, oldMode, newMode: '0', isDeleted: true }, ids: [oldId] };
  const made = { file: { ...file, oldMode: '0', newMode, isNew: true }, ids: [newId] };
  if (status === 'T') return [gone, made];
  if (status === 'D') return [gone];
  if (status === 'A') return [made];
  return [{ file: { ...file, oldMode, newMode, isRenamed: status === 'R' }, ids: [oldId, newId] }];
}
