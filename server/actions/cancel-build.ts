import type { BuildRow } from '../queries/build-row.ts';
import type { Work } from '../services.ts';
import { finishBuild } from './finish-build.ts';

/** Cancels a pending or running build. A finished one stays as it is. Its runner learns at its next contact. */
export async function cancelBuild(work: Work, build: BuildRow): Promise<void> {
  await finishBuild(work, {
    buildId: build.id,
    pipelineId: build.pipeline_id,
    status: 'canceled',
    from: ['pending', 'running'],
  });
}
