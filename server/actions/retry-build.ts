import { forbidden } from '../errors.ts';
import type { BuildRow } from '../queries/build-row.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { createBuilds } from './create-builds.ts';
import { progressPipeline } from './progress-pipeline.ts';

interface CurrentRow {
  status: string;
  job_id: number;
  has_commands: boolean;
}

const hasCommands = `j.definition->'script' <> '[]'::jsonb`;

/**
 * Runs the job of a finished build again, as a new build with an id of its own. The old one stays as it is and
 * no longer counts. A pending build is its own retry.
 *
 * @returns id of the build that now stands for the job.
 * @throws AppError 403 for a running build, and for one without commands.
 */
export async function retryBuild(work: Work, build: BuildRow, userId: number): Promise<number> {
  const { em } = work;
  await lockPipeline(em, build.pipeline_id);
  const current = await sqlOne<CurrentRow>(
    em,
    `select b.status, b.job_id, ${hasCommands} as has_commands
     from builds b join pipeline_jobs j on j.id = b.job_id where b.id = $1 for update of b`,
    [build.id],
  );
  if (current?.status === 'pending') return build.id;
  if (!current || current.status === 'running' || !current.has_commands) throw notRetryable();
  const waiting = await sqlOne<{ id: number }>(
    em,
    `select id from builds where job_id = $1 and latest and id > $2 and status in ('pending', 'running')`,
    [current.job_id, build.id],
  );
  if (waiting) return waiting.id;
  const [id] = await runAgain(work, { pipelineId: build.pipeline_id, jobIds: [current.job_id], userId });
  if (id === undefined) throw notRetryable();
  return id;
}

/** Runs every job of a pipeline again whose latest build has failed, also where that was allowed. */
export async function retryPipeline(work: Work, pipelineId: number, userId: number): Promise<void> {
  await lockPipeline(work.em, pipelineId);
  const failed = await sql<{ job_id: number }>(
    work.em,
    `select b.job_id from builds b join pipeline_jobs j on j.id = b.job_id
     where b.pipeline_id = $1 and b.latest and b.status = 'failed' and ${hasCommands}`,
    [pipelineId],
  );
  if (failed.length === 0) return;
  await runAgain(work, { pipelineId, jobIds: failed.map((build) => build.job_id), userId });
}

interface Jobs {
  pipelineId: number;
  jobIds: number[];
  /** Null when nobody asked for it. */
  userId: number | null;
}

/** New builds for jobs whose latest ones are over. The caller holds the lock of the pipeline. @returns their ids. */
export async function runAgain(work: Work, { pipelineId, jobIds, userId }: Jobs): Promise<number[]> {
  await sql(work.em, 'update builds set latest = false where job_id = any($1) and latest', [jobIds]);
  const ids = await createBuilds(work, { jobIds, userId });
  await progressPipeline(work, pipelineId, userId);
  return ids;
}

function notRetryable() {
  return forbidden('Build is not retryable');
}
