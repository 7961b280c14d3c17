import type { BuildStatus } from '../../shared/build-status.ts';
import { tellOfBuilds, wakeHooks } from '../queries/hook-tasks.ts';
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
  await lockPipeline(work.em, end.pipelineId);
  const ended = await closeBuild(work, end);
  if (ended) await progressPipeline(work, end.pipelineId, ended.userId);
  return ended !== null;
}

const endOne = `
  with ended as (
    update builds set status = $2, finished_at = now(), failure_reason = $4 where id = $1 and status = any($3)
    returning id, project_id, job_id, user_id, status, started_at, finished_at
  ), ${tellOfBuilds('ended')}
  select user_id, ${wakeHooks} as woken,
    coalesce((select j.definition->>'coverage' from pipeline_jobs j where j.id = job_id),
      (select p.build_coverage_regex from projects p where p.id = project_id)) is not null as has_coverage
  from ended`;

/**
 * Ends a build and starts nothing. The caller holds the lock of the pipeline, and brings its state up to date.
 *
 * @returns null, with nothing changed, when the build has left the expected states in the meantime.
 */
export async function closeBuild(work: Work, end: BuildEnd): Promise<{ userId: number | null } | null> {
  const { em } = work;
  // Before the build's own row: a claim takes its locks in this order.
  await sqlOne(em, 'delete from pending_builds where build_id = $1', [end.buildId]);
  const ended = await sqlOne<{ user_id: number | null; has_coverage: boolean }>(em, endOne, [
    end.buildId,
    end.status,
    end.from,
    end.failureReason ?? null,
  ]);
  if (!ended) return null;
  await work.queue.add(
    em,
    'archive_trace',
    { buildId: end.buildId },
    { delaySeconds: traceGraceSeconds, key: `archive_trace:${end.buildId}` },
  );
  if (ended.has_coverage) await work.queue.add(em, 'measure_coverage', { buildId: end.buildId });
  return { userId: ended.user_id };
}
