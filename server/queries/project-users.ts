import { avatarOf } from './avatar.ts';
import type { ListQuery } from './list-query.ts';
import { hasPart, partOf } from './text-search.ts';

/** Select of everybody who takes part in the project in `$1`: its owner, its members, and those of groups that have it. */
export const participants = `
  select user_id from project_members where project_id = $1
  union select n.owner_id from projects p join namespaces n on n.id = p.namespace_id
    where p.id = $1 and n.owner_id is not null
  union select m.user_id from projects p join group_members m on m.group_id = p.namespace_id where p.id = $1
  union select m.user_id from projects p join namespaces n on n.id = p.namespace_id and not n.share_with_group_lock
    join project_shares s on s.project_id = p.id join group_members m on m.group_id = s.group_id where p.id = $1`;

/**
 * Users of a project, newest first.
 *
 * @param search part of name, user name or e-mail.
 */
export function listProjectUsers(projectId: number, search: string | undefined): ListQuery {
  const values: unknown[] = [projectId];
  let from = `users u where u.id in (${participants})`;
  if (search !== undefined) {
    values.push(partOf(search));
    from += ` and ${hasPart(['u.name', 'u.username', 'u.email'], '$2', search)}`;
  }
  return {
    columns: `u.id, u.username, u.name, u.state, u.email, ${avatarOf('u')} as avatar`,
    from,
    order: 'u.id desc',
    values,
  };
}
