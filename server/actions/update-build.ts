import { forbidden, notFound } from '../errors.ts';
import { type BuildAccessRow, findBuildAccess } from '../queries/build-access.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import type { RunnerRow } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';
import { returnBuild } from './claim-build.ts';
import { finishBuild } from './finish-build.ts';
import { replaceTrace } from './trace.ts';

export interface BuildUpdate {
  /** Null when the path names no build. */
  id: number | null;
  runner: RunnerRow;
  state?: 'pending' | 'running' | 'success' | 'failed' | 'canceled' | undefined;
  trace?: string | undefined;
}

/**
 * What a runner reports of its build. Only a running build of this runner is there for it: that is how it learns
 * of a cancel. The same end reported twice is fine, because the first answer may have been lost.
 *
 * @throws AppError 404 when there is no such build for this runner, 403 when it was erased.
 */
export async function updateBuild(work: Work, { id, runner, state, trace }: BuildUpdate): Promise<void> {
  const found = id === null ? null : await findBuildAccess(work.em, id);
  if (!found || found.runner_id !== runner.id) throw notFound();
  await lockPipeline(work.em, found.pipeline_id);
  const build = await findBuildAccess(work.em, found.id);
  if (!build) throw notFound();
  if (build.erased_at) throw forbidden('Build has been erased!');
  if (build.status !== 'running') {
    if (state === build.status) return;
    throw notFound();
  }
  if (trace !== undefined) await replaceTrace(work, build.id, Buffer.from(trace));
  if (state === undefined || state === 'running') return;
  if (state === 'pending') await returnBuild(work, build);
  else await endBuild(work, { build, state });
}

async function endBuild(
  work: Work,
  { build, state }: { build: BuildAccessRow; state: 'success' | 'failed' | 'canceled' },
): Promise<void> {
  await finishBuild(work, {
    buildId: build.id,
    pipelineId: build.pipeline_id,
    status: state,
    from: ['running'],
    failureReason: state === 'failed' ? 'script_failure' : undefined,
  });
}
