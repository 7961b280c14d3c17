import { accessLevels } from '../../shared/access-level.ts';
import { conflict, forbidden, notFound } from '../errors.ts';
import { announceGroupMember } from '../hooks/announce.ts';
import { mailMember } from '../mail/queue-mail.ts';
import { findGroupMember, type MemberRow } from '../queries/members.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { holdUser } from './hold-user.ts';
import { lockGroup } from './lock-group.ts';

export interface MemberChange {
  groupId: number;
  userId: number;
  accessLevel: number;
  /** Id of the user who does it. */
  by: number;
}

/** @throws AppError 404 for an unknown user, 409 for one who is a member. */
export async function addGroupMember(work: Work, change: MemberChange): Promise<MemberRow> {
  const { groupId, userId, accessLevel, by } = change;
  await lockGroup(work, groupId, 'members');
  await holdUser(work, userId);
  const added = await sqlOne(
    work.em,
    `insert into group_members (group_id, user_id, access_level) values ($1, $2, $3)
     on conflict do nothing returning id`,
    [groupId, userId, accessLevel],
  );
  if (!added) throw conflict('Already exists');
  await announceGroupMember(work, 'user_add_to_group', { groupId, userId, accessLevel });
  await mailMember(work, { in: 'group', id: groupId, userId, accessLevel, by });
  return requireMember(work, groupId, userId);
}

/** @throws AppError 404 for a user who is no member, 403 when the group would have no owner any more. */
export async function changeGroupMember(work: Work, change: MemberChange): Promise<MemberRow> {
  const { groupId, userId, accessLevel, by } = change;
  await lockGroup(work, groupId, 'members');
  const member = await requireMember(work, groupId, userId);
  if (member.access_level === accessLevel) return member;
  if (accessLevel < accessLevels.owner) await requireOtherOwner(work, groupId, userId);
  await sql(work.em, 'update group_members set access_level = $3 where group_id = $1 and user_id = $2', [
    groupId,
    userId,
    accessLevel,
  ]);
  await mailMember(work, { in: 'group', id: groupId, userId, accessLevel, by });
  return { ...member, access_level: accessLevel };
}

/**
 * @returns the member that was, or null when the user is none.
 * @throws AppError 403 when the group would have no owner any more.
 */
export async function removeGroupMember(
  work: Work,
  { groupId, userId }: Pick<MemberChange, 'groupId' | 'userId'>,
): Promise<MemberRow | null> {
  await lockGroup(work, groupId, 'members');
  const member = await findGroupMember(work.em, groupId, userId);
  if (!member) return null;
  await requireOtherOwner(work, groupId, userId);
  const { access_level: accessLevel } = member;
  await announceGroupMember(work, 'user_remove_from_group', { groupId, userId, accessLevel });
  await sql(work.em, 'delete from group_members where group_id = $1 and user_id = $2', [groupId, userId]);
  return member;
}

/** The lock on the group makes two owners, who remove each other, come one after the other. */
async function requireOtherOwner({ em }: Work, groupId: number, userId: number): Promise<void> {
  const row = await sqlOne<{ is_last: boolean }>(
    em,
    `select bool_or(user_id = $2) and count(*) = 1 as is_last from group_members
     where group_id = $1 and access_level >= $3`,
    [groupId, userId, accessLevels.owner],
  );
  if (row?.is_last) throw forbidden();
}

async function requireMember({ em }: Work, groupId: number, userId: number): Promise<MemberRow> {
  const member = await findGroupMember(em, groupId, userId);
  if (!member) throw notFound('User can not be found');
  return member;
}
