import { announceProjectMoves, type ProjectMove } from '../hooks/announce.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/**
 * Tells the system hooks that the projects of a namespace have new addresses. Call it once its path is changed.
 *
 * @param oldPath of the namespace.
 * @returns what has moved, by id.
 */
export async function announceNamespaceMove(
  work: Work,
  { namespaceId, oldPath }: { namespaceId: number; oldPath: string },
): Promise<ProjectMove[]> {
  const projects = await sql<{ id: number; path: string }>(
    work.em,
    'select id, path from projects where namespace_id = $1 and not pending_delete order by id',
    [namespaceId],
  );
  const moves = projects.map(({ id, path }) => ({ projectId: id, oldPath: `${oldPath}/${path}` }));
  await announceProjectMoves(work, 'project_rename', moves);
  return moves;
}
