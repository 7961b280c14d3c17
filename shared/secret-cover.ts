import { SecretFinder, type Span } from './secret-finder.ts';

/** Looked at in one go at most, in bytes. */
const piece = 256 * 1024;

export interface CoverOptions {
  secrets: Iterable<string>;
  /**
   * What stands in place of so many bytes of a secret. Of one whose first part was given out already, `isRest` is
   * true.
   */
  cover(length: number, isRest: boolean): Buffer;
  /** Bytes that are gathered before they are looked at, where nobody waits for them; none unless told. */
  gathered?: number;
}

/** Covers secrets in a stream of bytes, also where they are spread over chunks. Holds back only what may be one. */
export class SecretCover {
  readonly #finder: SecretFinder;
  readonly #options: CoverOptions;
  #held = Buffer.alloc(0);
  /** Bytes at the start of what is held that belong to a secret already covered. */
  #covered = 0;
  #waiting: Buffer[] = [];
  #waitingSize = 0;

  constructor(options: CoverOptions) {
    this.#options = options;
    this.#finder = new SecretFinder(options.secrets);
  }

  /** @returns what may be shown by now. */
  push(chunk: Buffer): Buffer {
    if (this.#finder.isEmpty) return chunk;
    const shown: Buffer[] = [];
    for (let at = 0; at < chunk.length; at += piece) {
      const part = chunk.subarray(at, at + piece);
      this.#waiting.push(part);
      this.#waitingSize += part.length;
      if (this.#isEnough()) shown.push(this.#look(false));
    }
    return Buffer.concat(shown);
  }

  /** @returns what was held back; call at the end of the stream. */
  flush(): Buffer {
    return this.#look(true);
  }

  /** Forgets what is held back: the beginning of a secret is all that may come of it, because the rest is dropped. */
  cut(): Buffer {
    const shown = this.#look(false);
    this.#held = Buffer.alloc(0);
    this.#covered = 0;
    return shown;
  }

  /** What is held is looked at again each time, so that it should not be the larger part. */
  #isEnough(): boolean {
    const { gathered } = this.#options;
    return gathered === undefined || this.#waitingSize >= Math.max(gathered, this.#held.length);
  }

  #look(isLast: boolean): Buffer {
    const text = Buffer.concat([this.#held, ...this.#waiting]);
    this.#waiting = [];
    this.#waitingSize = 0;
    const { spans, rest } = this.#finder.find(text, { isLast });
    const shown = this.#give(text, { spans, end: rest });
    this.#held = Buffer.from(text.subarray(rest));
    return shown;
  }

  #give(text: Buffer, { spans, end }: { spans: Span[]; end: number }): Buffer {
    const shown: Buffer[] = [];
    let at = Math.min(this.#covered, end);
    if (at > 0) shown.push(this.#options.cover(at, true));
    let covered = this.#covered;
    for (const span of spans) {
      if (span.start >= end) break;
      const isRest = span.start < covered;
      const start = Math.min(Math.max(span.start, covered), end);
      covered = Math.max(covered, span.end);
      shown.push(text.subarray(at, start));
      at = Math.min(covered, end);
      if (at > start) shown.push(this.#options.cover(at - start, isRest));
    }
    shown.push(text.subarray(at, end));
    this.#covered = Math.max(0, covered - end);
    return Buffer.concat(shown);
  }
}
