import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

/** A key of a user, or with `user_id` null a deploy key. */
export interface KeyRow {
  id: number;
  user_id: number | null;
  title: string;
  key: string;
  fingerprint: string;
  public: boolean;
  created_at: Date;
  updated_at: Date;
}

/** Of the table `k`. */
export const keyColumns =
  'k.id, k.user_id, k.title, k.key, k.fingerprint, k.public, k.created_at, k.updated_at';

/** Keys of a user, newest first. */
export function listUserKeys(userId: number): ListQuery {
  return { columns: keyColumns, from: 'keys k where k.user_id = $1', order: 'k.id desc', values: [userId] };
}

export async function findUserKey(em: EntityManager, userId: number, keyId: number): Promise<KeyRow | null> {
  return sqlOne<KeyRow>(em, `select ${keyColumns} from keys k where k.id = $2 and k.user_id = $1`, [
    userId,
    keyId,
  ]);
}

/** A key of whoever it is, or null. */
export async function findKey(em: EntityManager, keyId: number): Promise<KeyRow | null> {
  return sqlOne<KeyRow>(em, `select ${keyColumns} from keys k where k.id = $1`, [keyId]);
}

/**
 * The key that somebody shows who connects: one of an active user, or a deploy key.
 *
 * @param fingerprint as OpenSSH prints it, with `SHA256:` in front.
 */
export async function keyByFingerprint(em: EntityManager, fingerprint: string): Promise<KeyRow | null> {
  return sqlOne<KeyRow>(
    em,
    `select ${keyColumns} from keys k left join users u on u.id = k.user_id
     where k.fingerprint_sha256 = $1 and (k.user_id is null or u.state = 'active')`,
    [fingerprint],
  );
}
