import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { finishBuild } from './finish-build.ts';
import { addServerLine } from './trace.ts';
import { tellRunner } from './update-runner.ts';

/** Removes a runner. What it was running is failed at once: nobody could report its end any more. */
export async function deleteRunner(work: Work, runnerId: number): Promise<void> {
  // Waits for claims and reports that are on their way, and lets no further ones begin.
  await sql(work.em, 'select 1 from runners where id = $1 for update', [runnerId]);
  const running = await sql<{ id: number; pipeline_id: number }>(
    work.em,
    `select id, pipeline_id from builds where runner_id = $1 and status = 'running' order by pipeline_id, id`,
    [runnerId],
  );
  for (const build of running) {
    const isEnded = await finishBuild(work, {
      buildId: build.id,
      pipelineId: build.pipeline_id,
      status: 'failed',
      from: ['running'],
      failureReason: 'runner_system_failure',
    });
    if (isEnded) await addServerLine(work, build.id, 'ERROR: Job failed: its runner was removed');
  }
  await sql(work.em, 'delete from runners where id = $1', [runnerId]);
  await tellRunner(work, runnerId);
}
