import type { EntityManager } from '@mikro-orm/postgresql';
import { sql, sqlOne } from '../sql.ts';

export interface Recipient {
  id: number;
  name: string;
  /** The one he chose for mail, while it is his; else the primary one. */
  address: string;
}

/** What he set without being a member of the place. */
function setFor(place: 'project' | 'group', id: string): string {
  return `nullif((select s.level from notification_settings s where s.user_id = u.id and s.${place}_id = ${id}), 3)`;
}

/** How much mail he wants of `p`, from the tables `u`, `pm` and, of its group, `gm`; 3 leaves it to the next. */
export const level = `coalesce(nullif(pm.notification_level, 3), ${setFor('project', 'p.id')},
    nullif(gm.notification_level, 3), ${setFor('group', 'p.namespace_id')}, u.notification_level)`;

const columns = `u.id, u.name, case when lower(u.notification_email) <> lower(u.email) and exists (
    select from emails e where e.user_id = u.id and lower(e.email) = lower(u.notification_email))
  then u.notification_email else u.email end as address`;

const always = `select ${columns} from users u where u.id = $1 and u.state = 'active'`;

const inProject = `select ${columns} from users u
  join projects p on p.id = $2 and not p.pending_delete
  left join project_members pm on pm.project_id = p.id and pm.user_id = u.id
  left join group_members gm on gm.group_id = p.namespace_id and gm.user_id = u.id
  where u.id = $1 and u.state = 'active' and ${level} <> 0`;

/** For what concerns a user himself: whatever level he has. Null for users who are blocked or gone. */
export async function accountHolder(em: EntityManager, userId: number): Promise<Recipient | null> {
  return sqlOne<Recipient>(em, always, [userId]);
}

/** Null for users who are blocked, gone, or want no mail of that project. */
export async function recipientIn(
  em: EntityManager,
  projectId: number,
  userId: number,
): Promise<Recipient | null> {
  return sqlOne<Recipient>(em, inProject, [userId, projectId]);
}

const members = `select p.id as "projectId", u.id as "userId"
  from projects p cross join lateral (
    select user_id from project_members where project_id = p.id
    union select user_id from group_members where group_id = p.namespace_id
    union select owner_id from namespaces where id = p.namespace_id) m
  join users u on u.id = m.user_id
  left join project_members pm on pm.project_id = p.id and pm.user_id = u.id
  left join group_members gm on gm.group_id = p.namespace_id and gm.user_id = u.id
  where p.id = any($1) and u.state = 'active' and ${level} <> 0
  order by p.id, u.id`;

/** Members of projects, of their groups, and their owners, but those who want no mail of the project. */
export async function mailedMembers(
  em: EntityManager,
  projectIds: number[],
): Promise<{ projectId: number; userId: number }[]> {
  return sql(em, members, [projectIds]);
}
