import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

const lock = 'select 1 from users where id = $1 for no key update';
const statement = `with sessions as (delete from web_sessions where user_id = $1),
  codes as (delete from oauth_codes where user_id = $1)
  update oauth_tokens set revoked_at = now() where user_id = $1 and revoked_at is null`;

/**
 * Ends what a user signed in to with his password: web sessions, access tokens, and codes that would become such.
 * His private token stays. Inside a transaction.
 */
export async function endSessions(work: Pick<Work, 'em'>, userId: number): Promise<void> {
  // Tokens that are being exchanged are waited for: what comes of them must not be missed.
  await sql(work.em, lock, [userId]);
  await sql(work.em, statement, [userId]);
}
