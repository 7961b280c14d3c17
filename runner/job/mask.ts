const replacement = Buffer.from('[MASKED]');

/**
 * Replaces secrets in a stream of bytes, also where they are spread over several chunks. Only bytes that may
 * be the start of a secret are held back. Secrets that overlap become one replacement.
 */
export class Masker {
  readonly #byFirstByte: Buffer[][] = Array.from({ length: 256 }, () => []);
  #held = Buffer.alloc(0);
  /** Bytes at the start of what is held that belong to a secret already replaced. */
  #covered = 0;

  constructor(secrets: Iterable<string>) {
    for (const text of new Set(secrets)) {
      const secret = Buffer.from(text);
      const first = secret[0];
      if (first !== undefined) this.#byFirstByte[first]?.push(secret);
    }
  }

  /** @returns what may be shown by now. */
  push(chunk: Buffer): Buffer {
    return this.#scan(chunk, false);
  }

  /** @returns what was held back; call at the end of the stream. */
  flush(): Buffer {
    return this.#scan(Buffer.alloc(0), true);
  }

  #scan(chunk: Buffer, isLast: boolean): Buffer {
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const out: Buffer[] = [];
    let covered = this.#covered;
    let shown = covered;
    let position = 0;
    for (; position < data.length; position += 1) {
      const candidates = this.#byFirstByte[data[position] ?? 0] ?? [];
      if (candidates.length === 0) continue;
      const match = matchAt(data, position, candidates);
      if (match.mayGrow && !isLast) break;
      if (match.length === 0) continue;
      if (position >= covered) out.push(data.subarray(shown, position), replacement);
      covered = Math.max(covered, position + match.length);
      shown = covered;
    }
    if (shown < position) out.push(data.subarray(shown, position));
    this.#covered = Math.max(0, covered - position);
    this.#held = Buffer.from(data.subarray(position));
    return Buffer.concat(out);
  }
}

/** Longest secret at `position`, and whether a longer one could still come with more data. */
function matchAt(data: Buffer, position: number, candidates: Buffer[]): { length: number; mayGrow: boolean } {
  const rest = data.length - position;
  let length = 0;
  let mayGrow = false;
  for (const secret of candidates) {
    const compared = Math.min(rest, secret.length);
    // Most candidates end here, without the cost of a call.
    if (compared > 1 && secret[1] !== data[position + 1]) continue;
    if (data.compare(secret, 0, compared, position, position + compared) !== 0) continue;
    if (compared < secret.length) mayGrow = true;
    else length = Math.max(length, secret.length);
  }
  return { length, mayGrow };
}
