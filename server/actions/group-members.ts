import { accessLevels } from '../../shared/access-level.ts';
import { conflict, forbidden, notFound } from '../errors.ts';
import { announceGroupMember } from '../hooks/announce.ts';
import { mailMember } from '../mail/queue-mail.ts';
import { findGroupMember, type MemberRow } from '../queries/members.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { holdUser } from './hold-user.ts';
import { isLastOwner } from './last-owner.ts';
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

/** @throws AppError 404 for a user who is no member, 403 for the last owner who is not blocked. */
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
 * @throws AppError 403 for the last owner who is not blocked.
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

async function requireOtherOwner(work: Work, groupId: number, userId: number): Promise<void> {
  if (await isLastOwner(work, userId, groupId)) throw forbidden();
}

async function requireMember({ em }: Work, groupId: number, userId: number): Promise<MemberRow> {
  const member = await findGroupMember(em, groupId, userId);
  if (!member) throw notFound('User can not be found');
  return member;
}
