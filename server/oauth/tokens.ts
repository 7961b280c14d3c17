import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenDigest } from '../secrets.ts';
import { sql, sqlOne } from '../sql.ts';

/** Seconds. */
export const accessLifetime = 7200;
/** Seconds. Each refresh starts it anew. */
export const refreshLifetime = 90 * 24 * 3600;

export interface NewTokens {
  access: string;
  refresh: string | null;
  applicationId: number | null;
  userId: number | null;
  /** Null: they are the first of a new one. */
  family: string | null;
}

const insert = `insert into oauth_tokens
    (access_digest, refresh_digest, application_id, user_id, family, expires_at, refresh_expires_at)
  values ($1, $2, $3, $4, coalesce($5::uuid, gen_random_uuid()), now() + make_interval(secs => $6),
    case when $2::bytea is not null then now() + make_interval(secs => $7) end)
  returning floor(extract(epoch from created_at))::int as created_at`;

/** @returns when they were made, in seconds since 1970. */
export async function saveTokens(em: EntityManager, tokens: NewTokens): Promise<number> {
  const { access, refresh, applicationId, userId, family } = tokens;
  const digests = [tokenDigest(access), refresh === null ? null : tokenDigest(refresh)];
  const values = [...digests, applicationId, userId, family, accessLifetime, refreshLifetime];
  const row = await sqlOne<{ created_at: number }>(em, insert, values);
  return row?.created_at ?? 0;
}

/**
 * Waits for whoever changes the user's password or state, and makes him wait: what is made of an old consent in
 * between would outlive it.
 *
 * @returns whether the user is active.
 */
export async function lockUser(em: EntityManager, userId: number): Promise<boolean> {
  const row = await sqlOne<{ state: string }>(em, 'select state from users where id = $1 for share', [
    userId,
  ]);
  return row?.state === 'active';
}

export async function revokeFamily(em: EntityManager, family: string): Promise<void> {
  const text = 'update oauth_tokens set revoked_at = now() where family = $1 and revoked_at is null';
  await sql(em, text, [family]);
}

export interface RefreshRow {
  user_id: number;
  family: string;
}

const sameApplication = 'application_id is not distinct from $2';
const ownerOf = `select user_id from oauth_tokens where refresh_digest = $1 and ${sameApplication}`;
const findRefresh = `select user_id, family, refreshed_at is not null as is_used,
    revoked_at is null and refresh_expires_at > now() as is_fresh
  from oauth_tokens where refresh_digest = $1 and ${sameApplication} for update`;

/**
 * The refresh token of this program that can still be exchanged, locked until the transaction ends; null when there
 * is none. One that was exchanged before has been stolen: all tokens that came with and after it are revoked.
 */
export async function findRefreshToken(
  em: EntityManager,
  { token, applicationId }: { token: string; applicationId: number | null },
): Promise<RefreshRow | null> {
  const key = [tokenDigest(token), applicationId];
  const owner = await sqlOne<{ user_id: number }>(em, ownerOf, key);
  if (!owner || !(await lockUser(em, owner.user_id))) return null;
  const row = await sqlOne<RefreshRow & { is_used: boolean; is_fresh: boolean }>(em, findRefresh, key);
  if (row?.is_used) await revokeFamily(em, row.family);
  return row?.is_fresh ? row : null;
}

/** The refresh token is exchanged, and the access token beside it is over. */
export async function useRefreshToken(em: EntityManager, token: string): Promise<void> {
  const text = 'update oauth_tokens set refreshed_at = now(), revoked_at = now() where refresh_digest = $1';
  await sql(em, text, [tokenDigest(token)]);
}

const revoke = `update oauth_tokens t set revoked_at = now() from oauth_tokens given
  where (given.access_digest = $1 or given.refresh_digest = $1)
    and (t.id = given.id or given.refresh_digest = $1 and t.family = given.family)
    and ($2::int is null or given.application_id = $2) and t.revoked_at is null`;

/**
 * Revokes an access token with the refresh token beside it, or by a refresh token all that came of its consent.
 *
 * @param applicationId whose it must be; null: anybody's.
 */
export async function revokeToken(
  em: EntityManager,
  { token, applicationId }: { token: string; applicationId: number | null },
): Promise<void> {
  await sql(em, revoke, [tokenDigest(token), applicationId]);
}

export interface TokenInfo {
  resource_owner_id: number | null;
  expires_in_seconds: number;
  /** Of its program; null for none. */
  uid: string | null;
  created_at: number;
}

const info = `select t.user_id as resource_owner_id, a.uid, floor(extract(epoch from t.created_at))::int as created_at,
    floor(extract(epoch from t.expires_at - now()))::int as expires_in_seconds
  from oauth_tokens t left join oauth_applications a on a.id = t.application_id
    left join users u on u.id = t.user_id
  where t.access_digest = $1 and t.revoked_at is null and t.expires_at > now()
    and (t.user_id is null or u.state = 'active')`;

/** What may be told of an access token that is in force; null when it is not. */
export async function tokenInfo(em: EntityManager, token: string): Promise<TokenInfo | null> {
  return sqlOne<TokenInfo>(em, info, [tokenDigest(token)]);
}
