import { badRequest, conflict, notFound } from '../errors.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { lockGroup } from './lock-group.ts';

export interface ShareRow {
  id: number;
  project_id: number;
  group_id: number;
  group_access: number;
}

const columns = 'id, project_id, group_id, group_access';

/** @throws AppError 400 where the namespace forbids it. */
export function requireSharing(project: ProjectRow): void {
  if (project.namespace_share_lock) throw badRequest('The project sharing with group is disabled');
}

/**
 * Lets the members of a group into a project, with at most this level.
 *
 * @throws AppError 404 for a group that is gone, 409 for one that has the project.
 */
export async function shareProject(
  work: Work,
  { project, groupId, level }: { project: ProjectRow; groupId: number; level: number },
): Promise<ShareRow> {
  if (project.namespace_id === groupId) throw conflict('Project cannot be shared with the group it is in');
  await lockGroup(work, groupId, 'projects');
  const share = await sqlOne<ShareRow>(
    work.em,
    `insert into project_shares (project_id, group_id, group_access) values ($1, $2, $3)
     on conflict do nothing returning ${columns}`,
    [project.id, groupId, level],
  );
  if (!share) throw conflict('Group already shared with this group');
  return share;
}

/** @throws AppError 404 when the group has no share of the project. */
export async function unshareProject({ em }: Work, projectId: number, groupId: number): Promise<ShareRow> {
  const share = await sqlOne<ShareRow>(
    em,
    `delete from project_shares where project_id = $1 and group_id = $2 returning ${columns}`,
    [projectId, groupId],
  );
  if (!share) throw notFound('Group Link');
  return share;
}
