import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { forbidden, tooManyRequests } from '../errors.ts';
import { clientNetwork, isLoopback } from '../policy/client-address.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

/** Seconds. */
const signInWindow = 60;
const git = { failures: 10, window: 60, ban: 3600 };

const countSignIn = `insert into throttles as t (key, count, expires_at)
  values ($1, 1, now() + make_interval(secs => $2))
  on conflict (key) do update set
    count = case when t.expires_at <= now() then 1 else t.count + 1 end,
    expires_at = case when t.expires_at <= now() then excluded.expires_at else t.expires_at end
  returning count, ceil(extract(epoch from expires_at - now()))::int as wait`;

const countGitFailure = `insert into throttles as t (key, count, expires_at)
  values ($1, 1, now() + make_interval(secs => $2))
  on conflict (key) do update set
    count = case when t.expires_at <= now() then 1 else t.count + 1 end,
    expires_at = case when t.expires_at <= now() then excluded.expires_at
      when t.count + 1 = $3 then now() + make_interval(secs => $4) else t.expires_at end`;

const findGitBan = 'select 1 from throttles where key = $1 and count >= $2 and expires_at > now()';

interface Attempt {
  address: string;
  login: string;
}

/**
 * Counts an attempt to sign in, until it is known to be right, by its address and by its account: as many as the setting says in
 * one minute, for all servers together. Not inside a transaction: what a refused request rolls back was not counted.
 *
 * @throws AppError 429 for one too many.
 */
export async function throttleSignIn(work: Work, attempt: Attempt): Promise<void> {
  if (work.signInsPerMinute === 0) return;
  // What an address tries in vain is not counted against accounts: it could shut out as many as it has time for.
  for (const key of signInKeys(attempt)) await countAttempt(work, key);
}

/**
 * Counts an attempt to register by its address, also one that made a user: as many in one minute as there may be to
 * sign in. Not inside a transaction.
 *
 * @throws AppError 429 for one too many.
 */
export async function throttleSignUp(work: Work, address: string): Promise<void> {
  if (work.signInsPerMinute === 0) return;
  await countAttempt(work, `sign up from ${clientNetwork(address)}`);
}

async function countAttempt(work: Work, key: string): Promise<void> {
  const row = await sqlOne<{ count: number; wait: number }>(work.em, countSignIn, [key, signInWindow]);
  if (row && row.count > work.signInsPerMinute) throw tooManyRequests(Math.max(1, row.wait));
}

const takeBack = 'update throttles set count = count - 1 where key = $1 and count > 0 and expires_at > now()';

/** Counts an attempt no more that was right: guessing is to be slow, not using. */
export async function forgetAttempt(work: Work, attempt: Attempt): Promise<void> {
  if (work.signInsPerMinute === 0) return;
  for (const key of signInKeys(attempt)) await sql(work.em, takeBack, [key]);
}

function signInKeys({ address, login }: Attempt): string[] {
  const account = createHash('sha256').update(login.toLowerCase()).digest('hex');
  return [`sign in from ${clientNetwork(address)}`, `sign in as ${account}`];
}

/**
 * Notes that git came with credentials of nobody. Ten in a minute shut its address out for an hour; addresses of this
 * machine, from where a proxy may speak for everybody, never.
 */
export async function noteGitFailure(em: EntityManager, address: string): Promise<void> {
  if (isLoopback(address)) return;
  await sql(em, countGitFailure, [gitKey(address), git.window, git.failures, git.ban]);
}

/** @throws AppError 403 for an address that is shut out. */
export async function checkGitBan(em: EntityManager, address: string): Promise<void> {
  if (isLoopback(address)) return;
  const ban = await sqlOne(em, findGitBan, [gitKey(address), git.failures]);
  if (ban) throw forbidden('too many failed attempts to sign in from this address');
}

function gitKey(address: string): string {
  return `git from ${clientNetwork(address)}`;
}
