import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { wakeupChannel } from '../wakeups.ts';
import { queueBuilds } from './queue-builds.ts';

export interface NewBuilds {
  /** Planned jobs to make builds of. */
  jobIds: number[];
  /** Who pushed, or asked for the retry. */
  userId: number | null;
}

/**
 * Makes pending builds of planned jobs, puts them into the queue and wakes waiting runners at the commit. The
 * first build of a job that waited to be started by hand has the id that it was announced with. The caller holds
 * the lock of the pipeline.
 *
 * @returns ids of the builds, in plan order.
 */
export async function createBuilds({ em }: Work, { jobIds, userId }: NewBuilds): Promise<number[]> {
  if (jobIds.length === 0) return [];
  await sql(
    em,
    'insert into tag_sets (tags) select distinct tags from pipeline_jobs where id = any($1) on conflict do nothing',
    [jobIds],
  );
  const rows = await sql<{ id: number }>(em, insertBuilds, [jobIds, userId, wakeupChannel]);
  return rows.map((row) => row.id);
}

const insertBuilds = `
  with made as (
    insert into builds (id, project_id, pipeline_id, job_id, user_id, name, stage, stage_idx, allow_failure)
    select coalesce(j.planned_build_id, nextval('builds_id_seq')), pl.project_id, pl.id, j.id, $2, j.name,
      j.definition->>'stage', (j.definition->>'stageIndex')::int, (j.definition->>'allowFailure')::boolean
    from pipeline_jobs j join pipelines pl on pl.id = j.pipeline_id
    where j.id = any($1) order by j.position
    returning id, project_id, job_id, created_at
  ), traced as (
    insert into traces (build_id) select id from made
  ), played as (
    update pipeline_jobs set planned_build_id = null where id = any($1) and planned_build_id is not null
  ), ${queueBuilds('made', '$3')}`;
