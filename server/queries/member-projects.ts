import { accessLevels } from '../../shared/access-level.ts';

/**
 * Ids of the projects on which a user has at least a level: as owner, member, member of the group, or through a
 * share. What is being deleted may be among the others' own.
 *
 * @param user parameter of the statement that holds the user's id, such as `$1`.
 */
export function memberProjects(user: string, level: number): string {
  return `${namespaceProjects(user, level)}
    union select project_id from project_members where user_id = ${user} and access_level >= ${level}
    union select s3.project_id from project_shares s3
      join group_members m3 on m3.group_id = s3.group_id and m3.user_id = ${user}
      join projects p3 on p3.id = s3.project_id
      join namespaces n3 on n3.id = p3.namespace_id and not n3.share_with_group_lock
      where least(m3.access_level, s3.group_access) >= ${level}`;
}

/** As `memberProjects`, but only those of the user's own namespace and of his groups. */
export function namespaceProjects(user: string, level: number = accessLevels.owner): string {
  return `select p1.id from projects p1 join namespaces n1 on n1.id = p1.namespace_id
      where n1.owner_id = ${user} and not p1.pending_delete
    union select p2.id from projects p2 join group_members m2 on m2.group_id = p2.namespace_id
      where m2.user_id = ${user} and m2.access_level >= ${level} and not p2.pending_delete`;
}
