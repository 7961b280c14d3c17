import { lockPipeline } from '../queries/pipeline-row.ts';
import type { RunnerRow } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { wakeupChannel } from '../wakeups.ts';
import { progressPipeline } from './progress-pipeline.ts';
import { queueBuilds } from './queue-builds.ts';

/** Waiting builds looked at per set of tags: more than there can be claims in one moment. */
const window = 64;

/**
 * One statement: of each set of tags that the runner may take, the oldest few waiting builds come from an index;
 * the oldest of all that nobody else is taking at this moment leaves the queue and becomes the runner's. The cost
 * depends neither on how many builds wait nor on how many have ever run. The runner's own row is held first, so that
 * a runner that is being removed takes nothing any more.
 */
export const claim = `
  with me as (
    select id from runners where id = $1 and active for key share
  ), sets as (
    select t.id from me cross join tag_sets t where t.tags <@ $2::text[] and ($3 or t.tags <> '{}')
  ), candidates as (
    select q.build_id, q.created_at from sets s cross join lateral (
      select build_id, created_at from pending_builds
      where shared and tag_set_id = s.id order by created_at, build_id limit ${window}) q
    where $4
    union all
    select q.build_id, q.created_at from sets s
      cross join runner_projects rp
      join projects p on p.id = rp.project_id and p.builds_enabled and not p.pending_delete
      cross join lateral (
        select build_id, created_at from pending_builds
        where project_id = p.id and tag_set_id = s.id order by created_at, build_id limit ${window}) q
    where rp.runner_id = $1 and not $4
  ), taken as (
    delete from pending_builds where build_id = (
      select w.build_id from pending_builds w
      where w.build_id in (select build_id from candidates order by created_at, build_id limit ${window})
      order by w.created_at, w.build_id limit 1 for update skip locked)
    returning build_id
  )
  update builds b set status = 'running', runner_id = $1, started_at = now()
  from taken where b.id = taken.build_id and b.status = 'pending'
  returning b.id, b.pipeline_id as "pipelineId"`;

export interface ClaimedBuild {
  id: number;
  pipelineId: number;
}

/**
 * Gives the runner the oldest pending build that it may take.
 *
 * @returns null when there is none. Two runners never get the same one.
 */
export async function claimBuild({ em }: Work, runner: RunnerRow): Promise<ClaimedBuild | null> {
  const taken = await sqlOne<ClaimedBuild>(em, claim, [
    runner.id,
    runner.tag_list,
    runner.run_untagged,
    runner.is_shared,
  ]);
  if (!taken) return null;
  await sql(
    em,
    `update pipelines set status = 'running', started_at = coalesce(started_at, now())
     where id = $1 and status = 'pending'`,
    [taken.pipelineId],
  );
  return taken;
}

/**
 * Puts a running build back into the queue, with an empty trace: the next runner begins its own at 0. A build in
 * another state stays as it is.
 *
 * @param work inside a transaction.
 */
export async function returnBuild(work: Work, build: { id: number; pipelineId: number }): Promise<void> {
  const { em } = work;
  await lockPipeline(em, build.pipelineId);
  const returned = await sqlOne(em, putBack, [build.id, wakeupChannel]);
  if (!returned) return;
  await sql(em, 'delete from trace_parts where build_id = $1', [build.id]);
  await sql(em, 'update traces set length = 0 where build_id = $1', [build.id]);
  await progressPipeline(work, build.pipelineId, null);
}

const putBack = `
  with back as (
    update builds set status = 'pending', runner_id = null, started_at = null
    where id = $1 and status = 'running' returning id, project_id, job_id, created_at
  ), ${queueBuilds('back', '$2')}`;
