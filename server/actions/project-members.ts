import { forbidden, notFound } from '../errors.ts';
import { announceTeam } from '../hooks/announce.ts';
import { mailMember } from '../mail/queue-mail.ts';
import { findProjectMember, type MemberRow } from '../queries/members.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { holdUser } from './hold-user.ts';
import { recordEvent } from './record-event.ts';

export interface TeamChange {
  projectId: number;
  userId: number;
  accessLevel: number;
  /** Id of the user who does it. */
  by: number;
}

/**
 * Gives a project a member. One who is there already stays as he is.
 *
 * @throws AppError 404 for an unknown user.
 */
export async function addProjectMember(work: Work, change: TeamChange): Promise<MemberRow> {
  const { projectId, userId, accessLevel, by } = change;
  await holdUser(work, userId);
  const added = await sqlOne(
    work.em,
    `insert into project_members (project_id, user_id, access_level) values ($1, $2, $3)
     on conflict do nothing returning id`,
    [projectId, userId, accessLevel],
  );
  if (added) {
    await announceTeam(work, 'user_add_to_team', { projectId, userId, accessLevel });
    await recordMove(work, change, 'joined');
    await mailMember(work, { in: 'project', id: projectId, userId, accessLevel, by });
  }
  return requireMember(work, change);
}

/** @throws AppError 404 for a user who is no member. */
export async function changeProjectMember(work: Work, change: TeamChange): Promise<MemberRow> {
  const { projectId, userId, accessLevel, by } = change;
  const changed = await sqlOne(
    work.em,
    `update project_members set access_level = $3
     where project_id = $1 and user_id = $2 and access_level <> $3 returning id`,
    [projectId, userId, accessLevel],
  );
  const member = await requireMember(work, change);
  if (changed) await mailMember(work, { in: 'project', id: projectId, userId, accessLevel, by });
  return member;
}

/**
 * @returns the member that was, or null when the user is none.
 * @throws AppError 403 for the owner of a personal project, who stays.
 */
export async function removeProjectMember(
  work: Work,
  place: Pick<TeamChange, 'projectId' | 'userId'>,
): Promise<MemberRow | null> {
  const { projectId, userId } = place;
  // Of two who remove him, one does.
  await sql(work.em, 'select 1 from project_members where project_id = $1 and user_id = $2 for update', [
    projectId,
    userId,
  ]);
  const member = await findProjectMember(work.em, projectId, userId);
  if (!member) return null;
  if (await isOwner(work, place)) throw forbidden();
  const { access_level: accessLevel } = member;
  await announceTeam(work, 'user_remove_from_team', { projectId, userId, accessLevel });
  await recordMove(work, place, 'left');
  await sql(work.em, 'delete from project_members where project_id = $1 and user_id = $2', [
    projectId,
    userId,
  ]);
  return member;
}

/** Of the owner's own membership nothing is told. */
async function recordMove(
  work: Work,
  place: Pick<TeamChange, 'projectId' | 'userId'>,
  action: 'joined' | 'left',
): Promise<void> {
  if (await isOwner(work, place)) return;
  await recordEvent(work, { projectId: place.projectId, authorId: place.userId, action });
}

async function isOwner(
  { em }: Work,
  { projectId, userId }: Pick<TeamChange, 'projectId' | 'userId'>,
): Promise<boolean> {
  const owned = await sqlOne(
    em,
    'select 1 from projects p join namespaces n on n.id = p.namespace_id where p.id = $1 and n.owner_id = $2',
    [projectId, userId],
  );
  return owned !== null;
}

async function requireMember(
  { em }: Work,
  { projectId, userId }: Pick<TeamChange, 'projectId' | 'userId'>,
): Promise<MemberRow> {
  const member = await findProjectMember(em, projectId, userId);
  if (!member) throw notFound('User can not be found');
  return member;
}
