import { badRequest, notFound } from '../errors.ts';
import { announceProjectMoves } from '../hooks/announce.ts';
import { mailProjectMoves } from '../mail/queue-mail.ts';
import type { GroupRow } from '../queries/group-row.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { lockGroup } from './lock-group.ts';
import { takenFaults } from './project-place.ts';
import { limitVisibility } from './project-visibility.ts';

interface Transfer {
  viewer: Viewer;
  group: GroupRow;
  /** Id, or `namespace/path`. */
  project: string;
}

/**
 * Moves a project into a group. Its repository stays where it is; it is shown to no more people than the group, and
 * its forks to no more than it.
 *
 * @throws AppError 404 for an unknown project, 400 where the group cannot take it.
 */
export async function transferProject(work: Work, { viewer, group, project }: Transfer): Promise<void> {
  const { em } = work;
  const { visibility_level: level } = await lockGroup(work, group.id, 'projects');
  const named = await findProject(em, project, viewer);
  // From here on the project is held: whoever moves or removes it at the same time comes first or later.
  if (named) await limitVisibility(work, named.id, level);
  const row = named && (await findProject(em, String(named.id), viewer));
  if (!row) throw notFound('Project');
  await requirePlace(work, row, group.id);
  await sql(em, 'update projects set namespace_id = $2, updated_at = now() where id = $1', [
    row.id,
    group.id,
  ]);
  await sql(em, 'delete from project_shares where project_id = $1 and group_id = $2', [row.id, group.id]);
  const move = { projectId: row.id, oldPath: `${row.namespace_path}/${row.path}` };
  await announceProjectMoves(work, 'project_transfer', [move]);
  await mailProjectMoves(work, [move], viewer.id);
}

async function requirePlace(work: Work, row: ProjectRow, groupId: number): Promise<void> {
  if (row.namespace_id === groupId) throw refusal('is invalid');
  const { path, name } = await takenFaults(work, { namespaceId: groupId, name: row.name, path: row.path });
  if (path ?? name) {
    throw refusal(`Project with same ${path ? 'path' : 'name'} in target namespace already exists`);
  }
}

function refusal(reason: string) {
  return badRequest(`Failed to transfer project {:new_namespace=>["${reason}"]}`);
}
