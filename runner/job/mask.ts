import { SecretCover } from '../../shared/secret-cover.ts';

const replacement = Buffer.from('[MASKED]');
const nothing = Buffer.alloc(0);

/** Replaces secrets in a stream of bytes. Secrets that overlap become one replacement. */
export class Masker extends SecretCover {
  constructor(secrets: Iterable<string>) {
    super({ secrets, cover: (_length, isRest) => (isRest ? nothing : replacement) });
  }
}
