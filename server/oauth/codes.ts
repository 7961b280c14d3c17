import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenDigest } from '../secrets.ts';
import { sql, sqlOne } from '../sql.ts';
import { lockUser, revokeFamily } from './tokens.ts';

/** Seconds. */
export const codeLifetime = 600;

export interface NewCode {
  code: string;
  applicationId: number;
  userId: number;
  redirectUri: string;
  codeChallenge: string | null;
}

const insert = `insert into oauth_codes (code_digest, application_id, user_id, redirect_uri, code_challenge, expires_at)
  values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`;

export async function saveCode(em: EntityManager, request: NewCode): Promise<void> {
  const { applicationId, userId, redirectUri, codeChallenge } = request;
  const values = [tokenDigest(request.code), applicationId, userId, redirectUri, codeChallenge, codeLifetime];
  await sql(em, insert, values);
}

export interface CodeRow {
  user_id: number;
  redirect_uri: string;
  code_challenge: string | null;
  family: string;
}

const ownerOf = 'select user_id from oauth_codes where code_digest = $1 and application_id = $2';
const find = `select user_id, redirect_uri, code_challenge, family, used_at is not null as is_used,
  expires_at > now() as is_fresh from oauth_codes where code_digest = $1 and application_id = $2 for update`;

/**
 * The code of this program that can still be exchanged, locked until the transaction ends; null when there is none.
 * One that was exchanged before has been stolen: whatever came of it is revoked.
 */
export async function findCode(
  em: EntityManager,
  { code, applicationId }: { code: string; applicationId: number },
): Promise<CodeRow | null> {
  const key = [tokenDigest(code), applicationId];
  const owner = await sqlOne<{ user_id: number }>(em, ownerOf, key);
  if (!owner || !(await lockUser(em, owner.user_id))) return null;
  const row = await sqlOne<CodeRow & { is_used: boolean; is_fresh: boolean }>(em, find, key);
  if (row?.is_used) await revokeFamily(em, row.family);
  return row && !row.is_used && row.is_fresh ? row : null;
}

/** Whatever comes of the exchange: the code is used up. */
export async function useCode(em: EntityManager, code: string): Promise<void> {
  await sql(em, 'update oauth_codes set used_at = now() where code_digest = $1', [tokenDigest(code)]);
}
