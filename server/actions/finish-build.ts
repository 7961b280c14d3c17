import type { BuildStatus } from '../../shared/build-status.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { progressPipeline } from './progress-pipeline.ts';

/** Seconds that a finished trace stays open for parts that are on their way. */
export const traceGraceSeconds = 60;

export interface BuildEnd {
  buildId: number;
  pipelineId: number;
  status: Extract<BuildStatus, 'success' | 'failed' | 'canceled'>;
  /** Only a build in one of these states is ended. */
  from: BuildStatus[];
  failureReason?: string | undefined;
}

/**
 * Ends a build and starts what follows from it.
 *
 * @returns false, with nothing changed, when the build has left the expected states in the meantime.
 */
export async function finishBuild(work: Work, end: BuildEnd): Promise<boolean> {
  const { em } = work;
  await lockPipeline(em, end.pipelineId);
  // Before the build's own row: a claim takes its locks in this order.
  await sqlOne(em, 'delete from pending_builds where build_id = $1', [end.buildId]);
  const ended = await sqlOne<{ user_id: number | null; has_coverage: boolean }>(
    em,
    `update builds set status = $2, finished_at = now(), failure_reason = $4
     where id = $1 and status = any($3) returning user_id,
       coalesce((select j.definition->>'coverage' from pipeline_jobs j where j.id = job_id),
         (select p.build_coverage_regex from projects p where p.id = project_id)) is not null as has_coverage`,
    [end.buildId, end.status, end.from, end.failureReason ?? null],
  );
  if (!ended) return false;
  await work.queue.add(
    em,
    'archive_trace',
    { buildId: end.buildId },
    { delaySeconds: traceGraceSeconds, key: `archive_trace:${end.buildId}` },
  );
  if (ended.has_coverage) await work.queue.add(em, 'measure_coverage', { buildId: end.buildId });
  await progressPipeline(work, end.pipelineId, ended.user_id);
  return true;
}
