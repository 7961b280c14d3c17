import { SecretCover } from './secret-cover.ts';
import { SecretFinder } from './secret-finder.ts';

/** Bytes of small chunks that are looked at together: nobody waits for them one by one. */
const gathered = 64 * 1024;

/** Blacks out secrets in a stream of bytes with as many `x` as they are long, so that offsets keep their meaning. */
export class Blackout extends SecretCover {
  constructor(secrets: readonly string[]) {
    super({ secrets, gathered, cover: (length) => Buffer.alloc(length, 'x') });
  }
}

/**
 * How many bytes of a text the longest of the secrets may take: each of its bytes encoded, and a line break of two
 * bytes after each.
 */
export function secretReach(secrets: readonly string[]): number {
  return 5 * Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)));
}

/** Fewer letters of a secret tell nothing. */
const shortest = 4;

/** Bytes at the end of `tail` that are the beginning of a secret whose rest has not come yet; 0 when there are none. */
export function unfinishedSecret(secrets: readonly string[], tail: Buffer): number {
  return tail.length - new SecretFinder(secrets).find(tail, { isLast: false, shortest }).rest;
}
