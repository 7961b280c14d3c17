import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { avatarOf } from './avatar.ts';
import type { ListQuery } from './list-query.ts';
import { partOf } from './text-search.ts';
import type { UserSummaryRow } from './user-summary.ts';

/** A member of a group or project. */
export interface MemberRow extends UserSummaryRow {
  created_at: Date;
  access_level: number;
}

const columns = `u.id, u.username, u.name, u.state, u.email, ${avatarOf('u')} as avatar, u.created_at, m.access_level`;
const ofGroup = 'group_members m join users u on u.id = m.user_id where m.group_id = $1';
const ofProject = 'project_members m join users u on u.id = m.user_id where m.project_id = $1';

/** Members of a group, the newest first. */
export function listGroupMembers(groupId: number): ListQuery {
  return { columns, from: ofGroup, order: 'm.id desc', values: [groupId] };
}

/** Direct members of a project, the newest first; `search` is a part of their user names. */
export function listProjectMembers(projectId: number, search: string | undefined): ListQuery {
  const order = 'm.id desc';
  if (search === undefined) return { columns, from: ofProject, order, values: [projectId] };
  const from = `${ofProject} and u.username ilike $2`;
  return { columns, from, order, values: [projectId, partOf(search)] };
}

/** One member of a group, or null. */
export async function findGroupMember(
  em: EntityManager,
  groupId: number,
  userId: number,
): Promise<MemberRow | null> {
  return sqlOne<MemberRow>(em, `select ${columns} from ${ofGroup} and m.user_id = $2`, [groupId, userId]);
}

/** One direct member of a project, or null. */
export async function findProjectMember(
  em: EntityManager,
  projectId: number,
  userId: number,
): Promise<MemberRow | null> {
  return sqlOne<MemberRow>(em, `select ${columns} from ${ofProject} and m.user_id = $2`, [projectId, userId]);
}
