/** Bytes of a secret that are looked for at once; the rest is compared byte by byte, each byte of the text once. */
const prefixSize = 16;

/**
 * Finds one text in others. Its time depends on the length of what is searched alone, whatever stands in it: both
 * are written by people who may want to keep the server busy.
 */
export class SecretSearch {
  readonly #secret: Buffer;
  readonly #prefix: Buffer;
  /** For each beginning of the secret the length of the longest shorter one that it ends with. */
  readonly #shorter: Uint32Array;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#prefix = secret.subarray(0, prefixSize);
    this.#shorter = shorterBeginnings(secret);
  }

  /**
   * Calls `found` with the place of each occurrence, in order; they may overlap.
   *
   * @returns length of the longest beginning of the secret, but not the whole, that `bytes` end with.
   */
  in(bytes: Buffer, found: (at: number) => void): number {
    const secret = this.#secret;
    let matched = 0;
    let at = 0;
    while (at < bytes.length) {
      if (matched === 0) {
        const next = this.#nextCandidate(bytes, at);
        if (next > at) {
          at = next;
          continue;
        }
      }
      matched = this.#step(matched, bytes[at] ?? 0);
      at += 1;
      if (matched < secret.length) continue;
      found(at - matched);
      matched = this.#shorter[matched] ?? 0;
    }
    return matched;
  }

  /** Of the beginnings of the secret that one of this length ends with, the longest shorter one's length. */
  shorterThan(length: number): number {
    return this.#shorter[length] ?? 0;
  }

  #nextCandidate(bytes: Buffer, at: number): number {
    const next = bytes.indexOf(this.#prefix, at);
    if (next !== -1) return next;
    // A part of it may stand at the end.
    return Math.max(at, bytes.length - this.#prefix.length + 1);
  }

  #step(matched: number, byte: number): number {
    let length = matched;
    while (length > 0 && this.#secret[length] !== byte) length = this.#shorter[length] ?? 0;
    return this.#secret[length] === byte ? length + 1 : 0;
  }
}

function shorterBeginnings(secret: Buffer): Uint32Array {
  const shorter = new Uint32Array(secret.length + 1);
  let length = 0;
  for (let at = 1; at < secret.length; at += 1) {
    while (length > 0 && secret[at] !== secret[length]) length = shorter[length] ?? 0;
    if (secret[at] === secret[length]) length += 1;
    shorter[at + 1] = length;
  }
  return shorter;
}
