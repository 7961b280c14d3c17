import { notFound } from '../errors.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/**
 * Keeps a user from being removed until the end of the transaction.
 *
 * @throws AppError 404 when there is none, or no longer.
 */
export async function holdUser({ em }: Pick<Work, 'em'>, userId: number): Promise<void> {
  const found = await sqlOne(em, 'select 1 from users where id = $1 for key share', [userId]);
  if (!found) throw notFound('User');
}
