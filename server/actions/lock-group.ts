import { notFound } from '../errors.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** Whom a lock on a group keeps out until the end of the transaction. */
const strengths = {
  /** Others who change the group or its members; not those who put projects into it. */
  members: 'for no key update',
  /** Those who change the group; for whoever puts a project into it, or shares one with it. */
  projects: 'for share',
  /** Everybody. */
  whole: 'for update',
};

/**
 * @returns who sees the group, which stays so.
 * @throws AppError 404 when there is no such group, or no longer.
 */
export async function lockGroup(
  { em }: Pick<Work, 'em'>,
  groupId: number,
  strength: keyof typeof strengths,
): Promise<{ visibility_level: number }> {
  const found = await sqlOne<{ visibility_level: number }>(
    em,
    `select visibility_level from namespaces
     where id = $1 and kind = 'group' and not pending_delete ${strengths[strength]}`,
    [groupId],
  );
  if (!found) throw notFound('Group');
  return found;
}
