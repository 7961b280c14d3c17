import { conflict, notFound } from '../errors.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

/**
 * Makes one project the fork of another one. Their repositories stay as they are.
 *
 * @throws AppError 404 without the source, 409 when the project is a fork already, or what it is to be a fork of
 * comes from it.
 */
export async function linkFork({ em }: Work, projectId: number, sourceId: number): Promise<void> {
  // In the order of their ids, so that two who link them both ways wait for each other.
  const ids = [projectId, sourceId];
  const found = await sql<{ id: number; forked_from_id: number | null }>(
    em,
    'select id, forked_from_id from projects where id = any($1) and not pending_delete order by id for update',
    [ids],
  );
  const project = found.find(({ id }) => id === projectId);
  if (!project) throw notFound('Project');
  if (!found.some(({ id }) => id === sourceId)) throw notFound('Source Project');
  if (project.forked_from_id !== null && (await isThere({ em }, project.forked_from_id))) {
    throw conflict('Project already forked');
  }
  if (await isDescendant({ em }, { of: projectId, id: sourceId })) {
    throw conflict('The source project is a fork of this project');
  }
  await sql(em, 'update projects set forked_from_id = $2 where id = $1', [projectId, sourceId]);
  await sql(em, 'update projects set forks_count = forks_count + 1 where id = $1', [sourceId]);
}

/** Makes a fork a project of its own; one that is none stays as it is. */
export async function unlinkFork({ em }: Work, projectId: number): Promise<void> {
  const row = await sqlOne<{ source: number }>(
    em,
    `update projects p set forked_from_id = null from projects old
     where p.id = $1 and old.id = p.id and p.forked_from_id = old.forked_from_id
     returning old.forked_from_id as source`,
    [projectId],
  );
  if (!row) return;
  await sql(em, 'update projects set forks_count = greatest(forks_count - 1, 0) where id = $1', [row.source]);
}

async function isThere({ em }: Pick<Work, 'em'>, id: number): Promise<boolean> {
  return (await sqlOne(em, 'select 1 from projects where id = $1 and not pending_delete', [id])) !== null;
}

/** Whether one project comes from the other, over any number of forks, or is the same. */
async function isDescendant(
  { em }: Pick<Work, 'em'>,
  { of, id }: { of: number; id: number },
): Promise<boolean> {
  const row = await sqlOne(
    em,
    `with recursive line as (
       select id, forked_from_id from projects where id = $1
       union select p.id, p.forked_from_id from projects p join line l on p.id = l.forked_from_id)
     select 1 from line where id = $2`,
    [id, of],
  );
  return row !== null;
}
