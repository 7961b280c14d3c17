import type { EntityManager } from '@mikro-orm/postgresql';
import { newAccessToken, tokenDigest } from '../secrets.ts';
import { sql, sqlOne } from '../sql.ts';

export interface WebUser {
  id: number;
  username: string;
  name: string;
}

const begin = `with user_row as (
    update users set last_sign_in_at = coalesce(current_sign_in_at, now()), current_sign_in_at = now() where id = $2
  )
  insert into web_sessions (digest, user_id) values ($1, $2)`;

/**
 * Begins the session of a browser, under a name that nobody could know before.
 *
 * @returns what its cookie holds.
 */
export async function beginSession(em: EntityManager, userId: number): Promise<string> {
  const token = newAccessToken();
  await sql(em, begin, [tokenDigest(token), userId]);
  return token;
}

const isOver = `s.created_at + make_interval(mins => greatest(c.session_expire_delay, 1)) <= now()`;
const find = `select u.id, u.username, u.name from web_sessions s join users u on u.id = s.user_id
  join settings c on c.id = 1 where s.digest = $1 and u.state = 'active' and not ${isOver}`;

/** Whose session this is, while it lasts and he is active; else null. */
export async function findSession(em: EntityManager, token: string): Promise<WebUser | null> {
  return sqlOne<WebUser>(em, find, [tokenDigest(token)]);
}

export async function endSession(em: EntityManager, token: string): Promise<void> {
  await sql(em, 'delete from web_sessions where digest = $1', [tokenDigest(token)]);
}

/** Rows that one round removes of each table; what is left is for the next one. */
const perRound = 10_000;

function removal(table: string, key: string, condition: string): string {
  return `delete from ${table} where ${key} in (select s.${key} from ${table} s ${condition} limit ${perRound})`;
}

const removals = [
  removal('web_sessions', 'id', `join settings c on c.id = 1 where ${isOver}`),
  // Used ones are kept until nobody could take them for good any more.
  removal('oauth_codes', 'id', `where s.expires_at < now() - interval '1 hour'`),
  removal('oauth_tokens', 'id', 'where greatest(s.expires_at, s.refresh_expires_at) < now()'),
  removal('throttles', 'key', 'where s.expires_at < now()'),
];

/** Forgets sessions, codes, tokens and counts that are over: nothing recognises them any more. */
export async function forgetOver({ em }: { em: EntityManager }): Promise<void> {
  for (const text of removals) await sql(em, text);
}
