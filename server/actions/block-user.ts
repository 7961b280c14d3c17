import { forbidden, notFound } from '../errors.ts';
import { endSessions } from '../oauth/end-sessions.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { isLastAdmin } from './last-admin.ts';

/**
 * Shuts a user out from the next request on, whatever he sends with it.
 *
 * @returns false when he was blocked before.
 * @throws AppError 404 when there is no such user, 403 for one whom the directory has blocked, and for the
 * last administrator.
 */
export async function blockUser(work: Work, userId: number): Promise<boolean> {
  const isLast = await isLastAdmin(work, userId);
  const state = await lockState(work, userId);
  if (state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be modified by the API');
  if (state === 'blocked') return false;
  if (isLast) throw forbidden('The last administrator cannot be blocked');
  await setState(work, userId, 'blocked');
  await endSessions(work, userId);
  return true;
}

/**
 * Lets a user in again, with the private token that he had.
 *
 * @returns false when he was not blocked.
 * @throws AppError 404 when there is no such user, 403 for one whom the directory has blocked.
 */
export async function unblockUser(work: Work, userId: number): Promise<boolean> {
  const state = await lockState(work, userId);
  if (state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be unblocked by the API');
  if (state === 'active') return false;
  await setState(work, userId, 'active');
  return true;
}

async function lockState({ em }: Work, userId: number): Promise<string> {
  const row = await sqlOne<{ state: string }>(em, 'select state from users where id = $1 for no key update', [
    userId,
  ]);
  if (!row) throw notFound('User');
  return row.state;
}

async function setState({ em }: Work, userId: number, state: 'active' | 'blocked'): Promise<void> {
  await sql(em, 'update users set state = $2, updated_at = now() where id = $1', [userId, state]);
}
