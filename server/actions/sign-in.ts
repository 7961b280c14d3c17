import { hash, verify } from '@node-rs/argon2';
import { unauthorized } from '../errors.ts';
import { type UserRow, userColumns } from '../queries/user-row.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** Compared with when there is no such user, so that the time of the answer does not tell. */
let decoy: Promise<string> | null = null;

/**
 * The active user with this login and password. A login with an `@` is his first e-mail address; the case of both
 * does not matter. A password is not enough for users of two factors: they have tokens.
 *
 * @throws AppError 401, whatever was wrong.
 */
export async function signIn(work: Work, login: string, password: string): Promise<UserRow> {
  const column = login.includes('@') ? 'email' : 'username';
  const user = await sqlOne<UserRow & { password_hash: string }>(
    work.em,
    `select ${userColumns}, u.password_hash from users u where lower(u.${column}) = lower($1)`,
    [login],
  );
  decoy ??= hash('no user has this password');
  // A user without a password has no hash, only a word in its place.
  const isHash = user?.password_hash.startsWith('$argon2') ?? false;
  const isRight = await verify(user && isHash ? user.password_hash : await decoy, password);
  if (!user || !isHash || !isRight || user.state !== 'active' || user.two_factor_enabled)
    throw unauthorized();
  return user;
}
