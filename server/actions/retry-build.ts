import { forbidden } from '../errors.ts';
import type { BuildRow } from '../queries/build-row.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { createBuilds } from './create-builds.ts';
import { progressPipeline } from './progress-pipeline.ts';

/**
 * Runs the job of a finished build again, as a new build with an id of its own. The old one stays as it is and
 * no longer counts. A pending build is its own retry.
 *
 * @returns id of the build that now stands for the job.
 * @throws AppError 403 for a running build.
 */
export async function retryBuild(work: Work, build: BuildRow, userId: number): Promise<number> {
  const { em } = work;
  await lockPipeline(em, build.pipeline_id);
  const current = await sqlOne<{ status: string; job_id: number }>(
    em,
    'select status, job_id from builds where id = $1 for update',
    [build.id],
  );
  if (current?.status === 'pending') return build.id;
  if (!current || current.status === 'running') throw forbidden('Build is not retryable');
  const waiting = await sqlOne<{ id: number }>(
    em,
    `select id from builds where job_id = $1 and latest and id > $2 and status in ('pending', 'running')`,
    [current.job_id, build.id],
  );
  if (waiting) return waiting.id;
  await sqlOne(em, 'update builds set latest = false where job_id = $1 and latest', [current.job_id]);
  const [id] = await createBuilds(work, { jobIds: [current.job_id], userId });
  if (id === undefined) throw forbidden('Build is not retryable');
  await progressPipeline(work, build.pipeline_id, userId);
  return id;
}
