import { announceProjects } from '../hooks/announce.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/**
 * Hides projects at once and lets a task remove what is theirs: rows, blobs and repositories. Their names are free
 * then, their waiting builds leave the queue, their running ones are canceled, which their runners learn at the next
 * contact, and their forks stay whole. What is hidden already stays so. The number of statements grows with the
 * number of projects only where there are hooks to tell, by the hundreds.
 *
 * @param work in a transaction.
 */
export async function removeProjects(work: Work, projectIds: number[]): Promise<void> {
  const { em } = work;
  const locked = await sql<{ id: number; is_removed: boolean }>(em, lock, [projectIds]);
  const ids = locked.filter((project) => project.is_removed).map(({ id }) => id);
  if (ids.length === 0) return;
  await announceProjects(work, 'project_destroy', ids);
  await sql(em, 'update projects set pending_delete = true, updated_at = now() where id = any($1)', [ids]);
  await sql(em, countForks, [ids]);
  await stopBuilds(work, ids);
  // With those nobody finds them through what is his own.
  for (const table of ['project_members', 'project_shares', 'runner_projects']) {
    await sql(em, `delete from ${table} where project_id = any($1)`, [ids]);
  }
  await queuePurges(work, ids);
}

/** Lets the tasks begin, or go on, that remove hidden projects. */
export async function queuePurges(
  { queue, em }: Pick<Work, 'queue' | 'em'>,
  projectIds: number[],
): Promise<void> {
  const payloads = projectIds.map((projectId) => ({ projectId }));
  await queue.addEach(em, 'purge_project', payloads, ({ projectId }) => `purge_project:${projectId}`);
}

/** With the sources of forks, whose numbers of forks change; all in one order, so that two removals never cross. */
const lock = `
  select id, id = any($1) and not pending_delete as is_removed from projects
  where id = any($1) or id in (select forked_from_id from projects where id = any($1))
  order by id for no key update`;

const countForks = `
  update projects s set forks_count = greatest(0, s.forks_count - f.number)
  from (select forked_from_id, count(*) as number from projects where id = any($1) group by forked_from_id) f
  where s.id = f.forked_from_id`;

async function stopBuilds({ em }: Work, ids: number[]): Promise<void> {
  // Whoever ends or makes a build at this moment is through then; later ones see that the project is hidden.
  await sql(em, lockPipelines, [ids]);
  await sql(em, 'delete from pending_builds where project_id = any($1)', [ids]);
  await sql(
    em,
    `update builds set status = 'canceled', finished_at = now() where project_id = any($1) and status = 'running'`,
    [ids],
  );
}

const lockPipelines = `
  select 1 from pipelines where id in (
    select pipeline_id from builds where project_id = any($1) and status = 'running'
    union select b.pipeline_id from pending_builds q join builds b on b.id = q.build_id where q.project_id = any($1))
  order by id for update`;
