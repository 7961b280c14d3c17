import { nextJobs } from '../ci/next-builds.ts';
import { aggregateStatus } from '../ci/status.ts';
import { latestBuilds, plannedJobs } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { createBuilds } from './create-builds.ts';

/**
 * Makes the builds that may start now and brings the pipeline's own state up to date. The caller holds the lock
 * of the pipeline. Doing it twice changes nothing.
 */
export async function progressPipeline(work: Work, pipelineId: number, userId: number | null): Promise<void> {
  const jobs = await plannedJobs(work.em, pipelineId);
  const builds = await latestBuilds(work.em, pipelineId);
  const names = new Set(nextJobs({ jobs, builds }));
  const started = jobs.filter((job) => names.has(job.name));
  await createBuilds(work, { jobIds: started.map((job) => job.id), userId });
  const now = started.map((): { status: 'pending'; allowFailure: boolean } => ({
    status: 'pending',
    allowFailure: false,
  }));
  const status = aggregateStatus([...builds, ...now]) ?? 'skipped';
  await sql(
    work.em,
    `update pipelines set status = $2,
       started_at = coalesce(started_at, (select min(started_at) from builds where pipeline_id = $1)),
       finished_at = case when $2 in ('pending', 'running') then null else now() end
     where id = $1`,
    [pipelineId, status],
  );
}
