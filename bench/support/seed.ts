import type { MadeBuild } from '../../test/support/make.ts';
import type { World } from './world.ts';

/** Copies of one build, each with a pipeline, a job and a trace of its own, as many pushes make them. */
const copies = `
  with source as (
    select b.*, j.tags, j.definition, pl.ref, pl.sha, pl.before_sha, pl.commit
    from builds b join pipeline_jobs j on j.id = b.job_id join pipelines pl on pl.id = b.pipeline_id
    where b.id = $1
  ), made as (
    insert into pipelines (project_id, user_id, ref, sha, before_sha, commit, status)
    select s.project_id, s.user_id, s.ref, s.sha, s.before_sha, s.commit, s.status
    from source s, generate_series(1, $2) returning id
  ), jobs as (
    insert into pipeline_jobs (pipeline_id, position, name, tags, definition)
    select m.id, 1, s.name, s.tags, s.definition from made m, source s returning id, pipeline_id
  ), copied as (
    insert into builds (project_id, pipeline_id, job_id, user_id, runner_id, name, stage, stage_idx, status,
      created_at, started_at, finished_at)
    select s.project_id, j.pipeline_id, j.id, s.user_id, s.runner_id, s.name, s.stage, s.stage_idx, s.status,
      clock_timestamp(), s.started_at, s.finished_at
    from jobs j, source s order by j.id returning id, project_id, created_at, status
  ), traced as (
    insert into traces (build_id) select id from copied
  ), queued as (
    insert into pending_builds (build_id, project_id, tag_set_id, shared, created_at)
    select c.id, c.project_id, t.id, true, c.created_at
    from copied c, source s join tag_sets t on t.tags = s.tags where c.status = 'pending'
  )
  select id from copied order by id`;

/** @returns ids of the copies. */
export async function copyBuild(
  { db }: World,
  { build, count }: { build: MadeBuild; count: number },
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(copies, [build.id, count]);
  await db.query('analyze');
  return rows.map(({ id }) => id);
}

/** Brings the queue to a length with copies of a waiting build. */
export async function fillQueue(
  world: World,
  { build, length }: { build: MadeBuild; length: number },
): Promise<void> {
  const { rows } = await world.db.query<{ count: number }>('select count(*)::int from pending_builds');
  const missing = length - (rows[0]?.count ?? 0);
  if (missing > 0) await copyBuild(world, { build, count: missing });
}
