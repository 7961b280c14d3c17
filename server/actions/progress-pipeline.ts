import { type LatestBuild, nextJobs } from '../ci/next-builds.ts';
import { aggregateStatus, type StatusRow } from '../ci/status.ts';
import { mergeWhenReady } from '../queries/merge-tasks.ts';
import { type LatestRow, latestRows, plannedJobs } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { createBuilds } from './create-builds.ts';

/**
 * Makes the builds that may start now and brings the pipeline's own state up to date. The caller holds the lock
 * of the pipeline. Doing it twice changes nothing.
 */
export async function progressPipeline(work: Work, pipelineId: number, userId: number | null): Promise<void> {
  const jobs = await plannedJobs(work.em, pipelineId);
  const rows = await latestRows(work.em, pipelineId);
  const names = new Set(nextJobs({ jobs, builds: rows.filter(isBuild) }));
  const started = jobs.filter((job) => names.has(job.name));
  await createBuilds(work, { jobIds: started.map((job) => job.id), userId });
  const now = started.map((): StatusRow => ({ status: 'pending', allowFailure: false }));
  await writeStatus(work, pipelineId, [...rows, ...now]);
}

/** Brings the state of a pipeline up to date and starts nothing. The caller holds its lock. */
export async function refreshPipeline(work: Work, pipelineId: number): Promise<void> {
  await writeStatus(work, pipelineId, await latestRows(work.em, pipelineId));
}

/** Services outside have their say about the pipeline, but hold up none of its stages. */
function isBuild(row: LatestRow): row is LatestRow & LatestBuild {
  return row.stageIndex !== null;
}

async function writeStatus({ em }: Work, pipelineId: number, rows: StatusRow[]): Promise<void> {
  await sql(em, update, [pipelineId, aggregateStatus(rows) ?? 'skipped']);
}

/**
 * A pipeline whose configuration cannot be used has failed, whatever else is said of it. With its success, merge
 * requests that wait for that are looked at.
 */
const update = `
  with changed as (
  update pipelines pl set status = s.status, started_at = coalesce(pl.started_at, t.started_at),
    finished_at = case when s.status in ('pending', 'running') then null else coalesce(t.finished_at, now()) end
  from (select case when yaml_errors is null then $2 else 'failed' end as status from pipelines where id = $1) s,
    (select min(started_at) as started_at, max(finished_at) as finished_at from (
      select started_at, finished_at from builds where pipeline_id = $1 and latest
      union all
      select started_at, finished_at from external_statuses where pipeline_id = $1 and latest) r) t
  where pl.id = $1 returning pl.project_id, pl.sha, pl.ref, pl.tag, pl.status
  )
  select ${mergeWhenReady} from changed c join merge_requests t on t.source_project_id = c.project_id and t.source_branch = c.ref
    and t.state in ('opened', 'reopened') and t.deleted_at is null
  where c.status = 'success' and not c.tag and t.head_sha = c.sha and t.merge_when_build_succeeds`;
