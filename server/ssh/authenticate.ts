import type { EntityManager } from '@mikro-orm/postgresql';
import type { PublicKeyAuthContext } from 'ssh2';
import { readSshKey } from '../actions/read-ssh-key.ts';
import { callerOf } from './caller.ts';
import { isProven, isUsable } from './signature.ts';

/** What a client is told that has no key of anybody. */
export const unknownKeys = [
  'None of your SSH keys is known to this server, or its user is blocked.',
  'Add the public key to your account, and check with `ssh -v` that it is the one that is offered.',
].join('\n');

/**
 * Judges a key that a client offers, or offers and has signed with.
 *
 * @returns its fingerprint when somebody may come in with it, and the signature, where there is one, is right.
 */
export async function judgeKey(em: EntityManager, offer: PublicKeyAuthContext): Promise<string | null> {
  const { algo, data } = offer.key;
  if (!isUsable({ algorithm: algo, hash: offer.hashAlgo })) return null;
  // Also checks that the data are a key of just this type.
  const read = readSshKey(`${algo} ${data.toString('base64')}`);
  if ('faults' in read) return null;
  const { fingerprintSha256 } = read.key;
  if (!(await callerOf(em, fingerprintSha256))) return null;
  if (!offer.signature) return fingerprintSha256;
  const { signature, blob: signed = Buffer.alloc(0), hashAlgo: hash } = offer;
  return isProven({ key: data, hash, signed, signature }) ? fingerprintSha256 : null;
}
