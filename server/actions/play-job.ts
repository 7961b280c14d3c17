import { aggregateStatus } from '../ci/status.ts';
import { badRequest, nothingHere } from '../errors.ts';
import { latestRows, lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { createBuilds } from './create-builds.ts';
import { progressPipeline } from './progress-pipeline.ts';

export interface Play {
  projectId: number;
  /** The id under which the job was announced, and which its build will have. */
  buildId: number;
  userId: number;
}

interface PlannedRow {
  id: number;
  pipeline_id: number;
  stage_index: number;
}

/**
 * Starts a job that waits to be started by hand. It may start once everything in the stages before it has ended,
 * however that went: whoever starts it has seen it.
 *
 * @throws AppError 404 when the id stands for nothing, 400 for a build that is there already, or a job whose turn
 * has not come.
 */
export async function playJob(work: Work, play: Play): Promise<void> {
  const job = await findPlanned(work, play);
  if (!job) throw await refusal(work, play);
  await lockPipeline(work.em, job.pipeline_id);
  if (!(await findPlanned(work, play))) throw unplayable();
  const rows = await latestRows(work.em, job.pipeline_id);
  const before = rows.filter(({ stageIndex }) => stageIndex !== null && stageIndex < job.stage_index);
  const prior = aggregateStatus(before);
  if (prior === 'pending' || prior === 'running') throw unplayable();
  await createBuilds(work, { jobIds: [job.id], userId: play.userId });
  await progressPipeline(work, job.pipeline_id, play.userId);
}

async function findPlanned({ em }: Work, { projectId, buildId }: Play): Promise<PlannedRow | null> {
  return sqlOne<PlannedRow>(
    em,
    `select j.id, j.pipeline_id, (j.definition->>'stageIndex')::int as stage_index
     from pipeline_jobs j join pipelines pl on pl.id = j.pipeline_id
     where j.planned_build_id = $1 and pl.project_id = $2`,
    [buildId, projectId],
  );
}

async function refusal({ em }: Work, { projectId, buildId }: Play) {
  const build = await sqlOne(em, 'select 1 from builds where id = $1 and project_id = $2', [
    buildId,
    projectId,
  ]);
  return build ? unplayable() : nothingHere();
}

function unplayable() {
  return badRequest('Unplayable Build');
}
