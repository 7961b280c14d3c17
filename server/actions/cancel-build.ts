import type { BuildStatus } from '../../shared/build-status.ts';
import type { BuildRow } from '../queries/build-row.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { closeBuild, finishBuild } from './finish-build.ts';
import { refreshPipeline } from './progress-pipeline.ts';

const open: BuildStatus[] = ['pending', 'running'];

/** Cancels a pending or running build. A finished one stays as it is. Its runner learns at its next contact. */
export async function cancelBuild(work: Work, build: BuildRow): Promise<void> {
  const { id: buildId, pipeline_id: pipelineId } = build;
  await finishBuild(work, { buildId, pipelineId, status: 'canceled', from: open });
}

/** Cancels every pending and running build of a pipeline. Nothing follows from that, `always` jobs included. */
export async function cancelPipeline(work: Work, pipelineId: number): Promise<void> {
  await lockPipeline(work.em, pipelineId);
  const builds = await sql<{ id: number }>(
    work.em,
    'select id from builds where pipeline_id = $1 and status = any($2) order by id',
    [pipelineId, open],
  );
  if (builds.length === 0) return;
  for (const { id: buildId } of builds) {
    await closeBuild(work, { buildId, pipelineId, status: 'canceled', from: open });
  }
  await refreshPipeline(work, pipelineId);
}
