import { accessLevels } from '../../shared/access-level.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/**
 * Whether a group would be left without an owner who may sign in, or with none at all, if this user were its owner no
 * more. One who is blocked owns nothing for the others: he may go while there is any other owner. Whoever asks has
 * locked the groups, so that two owners who go at the same time come one after the other.
 *
 * @param groupId looks at this group alone; null at all of the user's groups.
 */
export async function isLastOwner(
  { em }: Pick<Work, 'em'>,
  userId: number,
  groupId: number | null,
): Promise<boolean> {
  return (await sqlOne(em, needing, [userId, groupId, accessLevels.owner])) !== null;
}

const needing = `
  select 1 from group_members m join users u on u.id = m.user_id
    join namespaces n on n.id = m.group_id and not n.pending_delete
  where m.user_id = $1 and ($2::int is null or m.group_id = $2) and m.access_level >= $3 and not exists (
    select 1 from group_members o join users ou on ou.id = o.user_id
    where o.group_id = m.group_id and o.user_id <> $1 and o.access_level >= $3
      and (ou.state = 'active' or u.state <> 'active'))
  limit 1`;
