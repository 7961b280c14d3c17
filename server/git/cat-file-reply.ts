import { GitError } from './errors.ts';

export interface ObjectInfo {
  sha: string;
  type: 'commit' | 'tree' | 'blob' | 'tag';
  /** In bytes. */
  size: number;
}

export interface ObjectReply extends ObjectInfo {
  /** Null for a question about the size only. */
  data: Buffer | null;
}

export interface Question {
  command: 'info' | 'contents';
  /** A revision, or `revision:path`. */
  spec: string;
}

const nothing = Buffer.alloc(0);

const found = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/;

/** Whether a question could not be told from an answer, or would make git give up instead of answering. */
export function isUnanswerable(spec: string): boolean {
  const [firstLine = ''] = spec.split('\n', 1);
  const path = spec.slice(spec.indexOf(':') + 1);
  return spec.includes('\0') || found.test(firstLine) || /^\.{1,2}\//.test(path) || /\p{Cs}/u.test(spec);
}

/**
 * Puts one answer of `git cat-file --batch-command` together from the pieces in which it arrives. A path may
 * contain line breaks, and git repeats the question when it finds nothing, so the question is needed to read
 * the answer.
 */
export class ReplyReader {
  /** Once the answer is complete: the bytes that came behind it. */
  rest: Buffer = nothing;
  private readonly question: Question;
  private pending: Buffer = nothing;
  private info: ObjectInfo | null = null;
  private data: Buffer | null = null;
  private filled = 0;

  constructor(question: Question) {
    this.question = question;
  }

  /**
   * Takes the next bytes; `undefined` until the answer is complete, then the object, or null when there is
   * none. Throws a GitError when the bytes answer another question.
   */
  push(chunk: Buffer): ObjectReply | null | undefined {
    if (this.info === null) {
      this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
      const end = this.pending.indexOf(0x0a);
      if (end === -1) return undefined;
      const match = found.exec(this.pending.toString('latin1', 0, end));
      if (match === null) return this.readMissing();
      const info = toInfo(match);
      if (this.question.command === 'info') {
        this.rest = this.pending.subarray(end + 1);
        return { ...info, data: null };
      }
      this.info = info;
      this.data = Buffer.allocUnsafeSlow(info.size);
      return this.fill(this.info, this.data, this.pending.subarray(end + 1));
    }
    return this.fill(this.info, this.data ?? nothing, chunk);
  }

  private fill(info: ObjectInfo, data: Buffer, chunk: Buffer): ObjectReply | undefined {
    const copied = chunk.copy(data, this.filled);
    this.filled += copied;
    if (copied === chunk.length) return undefined;
    // The one byte too many is the line break that follows the object.
    this.rest = chunk.subarray(copied + 1);
    return { ...info, data };
  }

  private readMissing(): null | undefined {
    const repeated = Buffer.from(this.question.spec);
    const end = this.pending.indexOf(0x0a, repeated.length);
    if (end === -1) return undefined;
    this.rest = this.pending.subarray(end + 1);
    const answer = this.pending.toString('latin1', repeated.length, end);
    const isRepeated = this.pending.subarray(0, repeated.length).equals(repeated);
    if (isRepeated && (answer === ' missing' || answer === ' ambiguous')) return null;
    const stderr = `unexpected answer ${JSON.stringify(this.pending.toString('latin1', 0, 200))}`;
    throw new GitError({ attempted: `read ${this.question.spec}`, stderr });
  }
}

function toInfo(match: RegExpExecArray): ObjectInfo {
  const [, sha = '', type, size] = match;
  return { sha, type: type as ObjectInfo['type'], size: Number(size) };
}
