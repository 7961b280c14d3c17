import { invalid } from '../errors.ts';
import { announceKeys } from '../hooks/announce.ts';
import { mailNewKey } from '../mail/queue-mail.ts';
import { findUserKey, type KeyRow, keyColumns } from '../queries/ssh-keys.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { readSshKey, type SshKey } from './read-ssh-key.ts';

export interface NewKey {
  /** At most 255 characters. */
  title: string;
  /** As somebody pasted it. */
  key: string;
}

export interface KeyRequest {
  userId: number;
  /** What could be read of it. */
  key: Partial<NewKey>;
  /** Found by whoever read the request; without any, `key` is whole. */
  faults: Record<string, string[]>;
}

/**
 * Gives a user a key, and tells him so by mail.
 *
 * @throws AppError 400 with all faults: for what is no key, a weak one, or one that somebody has already.
 */
export async function addUserKey(work: Work, { userId, key: given, faults }: KeyRequest): Promise<KeyRow> {
  const key = requireSshKey(given.key, faults);
  const row = await insertKey(work, { userId, title: given.title?.trim() ?? '', key });
  await announceKeys(work, 'key_create', [row.id]);
  await mailNewKey(work, userId, { title: row.title });
  return row;
}

/** @returns the key that was, or null when the user has none with this id. */
export async function removeUserKey(work: Work, userId: number, keyId: number): Promise<KeyRow | null> {
  const row = await findUserKey(work.em, userId, keyId);
  if (!row) return null;
  await announceKeys(work, 'key_destroy', [keyId]);
  await sql(work.em, 'delete from keys where id = $1', [keyId]);
  return row;
}

/** @throws AppError 400 naming what is wrong with it beside the other faults, or those. */
function requireSshKey(text: string | undefined, faults: Record<string, string[]>): SshKey {
  const read = text === undefined ? { faults: {} } : readSshKey(text);
  if ('faults' in read) throw invalid({ ...faults, ...read.faults });
  if (Object.keys(faults).length > 0) throw invalid(faults);
  return read.key;
}

interface KeyColumns {
  /** Null for a deploy key. */
  userId: number | null;
  title: string;
  key: SshKey;
}

/** @throws AppError 400 when the key is there already, as a user's or as a deploy key. */
export async function insertKey({ em }: Work, { userId, title, key }: KeyColumns): Promise<KeyRow> {
  await sql(em, deleteOrphan, [key.fingerprintSha256]);
  const row = await sqlOne<KeyRow>(
    em,
    `insert into keys as k (user_id, title, key, fingerprint, fingerprint_sha256) values ($1, $2, $3, $4, $5)
     on conflict (fingerprint_sha256) do nothing returning ${keyColumns}`,
    [userId, title, key.text, key.fingerprint, key.fingerprintSha256],
  );
  const taken = ['has already been taken'];
  if (!row) throw invalid({ fingerprint: taken, key: taken });
  return row;
}

/** A deploy key whose projects are all gone is nobody's, and must not be in anybody's way. */
const deleteOrphan = `
  delete from keys k where k.fingerprint_sha256 = $1 and k.user_id is null and not k.public and not exists (
    select 1 from project_deploy_keys d join projects p on p.id = d.project_id and not p.pending_delete
    where d.key_id = k.id)`;
