import { conflict, forbidden, notFound } from '../errors.ts';
import type { RunnerRow } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { tellRunner } from './update-runner.ts';

/**
 * Lets a specific runner serve one more project.
 *
 * @throws AppError 409 when it does so already.
 */
export async function enableRunner(work: Work, runner: RunnerRow, projectId: number): Promise<void> {
  const added = await sqlOne(
    work.em,
    'insert into runner_projects (runner_id, project_id) values ($1, $2) on conflict do nothing returning 1',
    [runner.id, projectId],
  );
  if (!added) throw conflict('Runner was already enabled for this project');
  await tellRunner(work, runner.id);
}

/**
 * Ends a runner's service for a project.
 *
 * @throws AppError 404 when it does not serve it, 403 when it serves no other.
 */
export async function disableRunner(work: Work, runnerId: number, projectId: number): Promise<void> {
  await sql(work.em, 'select 1 from runners where id = $1 for update', [runnerId]);
  const rows = await sql<{ project_id: number }>(
    work.em,
    'select project_id from runner_projects where runner_id = $1',
    [runnerId],
  );
  if (!rows.some((row) => row.project_id === projectId)) throw notFound('Runner');
  if (rows.length === 1) {
    throw forbidden('Only one project associated with the runner. Please remove the runner instead');
  }
  await sql(work.em, 'delete from runner_projects where runner_id = $1 and project_id = $2', [
    runnerId,
    projectId,
  ]);
  await tellRunner(work, runnerId);
}
