/**
 * Blacks out secrets in a stream of bytes with as many `x` as they are long, so that offsets keep their meaning.
 * Secrets that are spread over several chunks are found too.
 */
export class Blackout {
  readonly #secrets: Buffer[];
  /** The longest part of a secret that may be waiting for its end. */
  readonly #reach: number;
  /** Bytes not given out yet, as they came and as they will be shown. */
  #raw = Buffer.alloc(0);
  #shown = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((secret) => secret !== '').map((secret) => Buffer.from(secret));
    this.#reach = secretReach(secrets);
  }

  /** @returns what may be shown by now. */
  push(chunk: Buffer): Buffer {
    this.#raw = Buffer.concat([this.#raw, chunk]);
    this.#shown = Buffer.concat([this.#shown, chunk]);
    for (const secret of this.#secrets) {
      for (let at = this.#raw.indexOf(secret); at !== -1; at = this.#raw.indexOf(secret, at + 1)) {
        this.#shown.fill('x', at, at + secret.length);
      }
    }
    return this.#give(Math.max(0, this.#raw.length - this.#reach));
  }

  /** @returns what was held back; call at the end of the stream. */
  flush(): Buffer {
    return this.#give(this.#raw.length);
  }

  #give(length: number): Buffer {
    const given = this.#shown.subarray(0, length);
    this.#raw = this.#raw.subarray(length);
    this.#shown = this.#shown.subarray(length);
    return given;
  }
}

/** The longest part of a secret, in bytes, that can be there without the rest of it. */
function secretReach(secrets: readonly string[]): number {
  return Math.max(1, ...secrets.map((secret) => Buffer.byteLength(secret))) - 1;
}

/** Fewer letters of a secret tell nothing. */
const shortestPart = 4;

/** Bytes at the end of `tail` that are the beginning of a secret whose rest has not come yet; 0 when there are none. */
export function unfinishedSecret(secrets: readonly string[], tail: Buffer): number {
  let longest = 0;
  for (const secret of secrets.map((text) => Buffer.from(text))) {
    for (let length = Math.min(secret.length - 1, tail.length); length >= shortestPart; length -= 1) {
      if (!tail.subarray(tail.length - length).equals(secret.subarray(0, length))) continue;
      longest = Math.max(longest, length);
      break;
    }
  }
  return longest;
}
