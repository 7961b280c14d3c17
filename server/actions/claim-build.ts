import { type PayloadRow, payloadColumns, payloadTables } from '../queries/build-payload.ts';
import { tellOfBuilds, wakeHooks } from '../queries/hook-tasks.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import { type RunnerContact, type RunnerKey, runnerBy, runnerColumns } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { wakeupChannel } from '../wakeups.ts';
import { progressPipeline } from './progress-pipeline.ts';
import { queueBuilds } from './queue-builds.ts';

/** Waiting builds looked at per set of tags: more than there can be claims in one moment. */
const window = 64;

/**
 * One statement: the runner that asks; of each set of tags that it may take, the oldest few waiting builds, from an
 * index; and the oldest of all that nobody else is taking at this moment leaves the queue and becomes the runner's.
 * The cost depends neither on how many builds wait nor on how many have ever run. Where something waits, the runner's
 * own row is held, so that a runner that is being removed takes nothing any more. With the build comes all that its
 * runner is told of it. Its pipeline runs from then on, unless somebody holds that: others lock pipelines first, so
 * that waiting for it here could be for ever.
 */
export const claim = { token: statement('token'), id: statement('id') };

function statement(by: RunnerKey['by']): string {
  return `
  with asker as (
    select ${runnerColumns} from runners r where ${runnerBy[by]}
  ), sets as (
    select t.id, a.id as runner_id, a.is_shared from asker a join tag_sets t
      on a.active and t.tags <@ a.tag_list and (a.run_untagged or t.tags <> '{}')
  ), candidates as (
    select q.build_id, q.created_at from sets s cross join lateral (
      select build_id, created_at from pending_builds
      where shared and tag_set_id = s.id order by created_at, build_id limit ${window}) q
    where s.is_shared
    union all
    select q.build_id, q.created_at from sets s
      join runner_projects rp on rp.runner_id = s.runner_id
      join projects p on p.id = rp.project_id and p.builds_enabled and not p.pending_delete
      cross join lateral (
        select build_id, created_at from pending_builds
        where project_id = p.id and tag_set_id = s.id order by created_at, build_id limit ${window}) q
    where not s.is_shared
  ), me as (
    select id from runners where id = (select id from asker) and active and exists (select from candidates)
    for key share
  ), taken as (
    delete from pending_builds where build_id = (
      select w.build_id from pending_builds w
      where w.build_id in (select build_id from candidates order by created_at, build_id limit ${window})
        and exists (select from me)
      order by w.created_at, w.build_id limit 1 for update skip locked)
    returning build_id
  ), claimed as (
    update builds b set status = 'running', runner_id = me.id, started_at = now()
    from taken, me where b.id = taken.build_id and b.status = 'pending'
    returning b.*
  ), begun as (
    update pipelines set status = 'running', started_at = coalesce(started_at, now())
    where id = (select pl.id from pipelines pl join claimed b on b.pipeline_id = pl.id
      where pl.status = 'pending' for update of pl skip locked)
    returning id
  ), ${tellOfBuilds('claimed')}
  select row_to_json(r) as runner, exists (select from candidates) as is_contested,
    pl.status = 'pending' and not exists (select from begun) as is_left_pending,
    ${wakeHooks} as woken, ${payloadColumns}
  from asker r left join (${payloadTables('claimed')}) on true`;
}

/** As many claims in one moment may overtake each other; the next look sees what they have taken. */
const looks = 3;

export interface Claim {
  runner: RunnerContact;
  /** Null when there is none for it. */
  build: PayloadRow | null;
}

type ClaimRow = (PayloadRow | { id: null }) & {
  runner: RunnerContact;
  /** There was something to take. When nothing was taken, others did that in the same moment. */
  is_contested: boolean;
  is_left_pending: boolean | null;
};

/**
 * Gives a runner the oldest pending build that it may take. Two runners never get the same one.
 *
 * @returns null when there is no such runner.
 */
export async function claimBuild({ em }: Work, { by, value }: RunnerKey): Promise<Claim | null> {
  for (let look = 1; ; look += 1) {
    const row = await sqlOne<ClaimRow>(em, claim[by], [value]);
    if (!row) return null;
    if (row.id !== null) {
      if (row.is_left_pending) await sql(em, begin, [row.pipeline_id]);
      return { runner: row.runner, build: row };
    }
    if (!row.is_contested || look === looks) return { runner: row.runner, build: null };
  }
}

const begin = `update pipelines set status = 'running', started_at = coalesce(started_at, now())
  where id = $1 and status = 'pending'`;

/**
 * Puts a running build back into the queue, with an empty trace: the next runner begins its own at 0. A build in
 * another state stays as it is.
 *
 * @param work inside a transaction.
 */
export async function returnBuild(work: Work, build: { id: number; pipeline_id: number }): Promise<void> {
  const { em } = work;
  await lockPipeline(em, build.pipeline_id);
  const returned = await sqlOne(em, putBack, [build.id, wakeupChannel]);
  if (!returned) return;
  await sql(em, 'delete from trace_parts where build_id = $1', [build.id]);
  await sql(em, 'update traces set length = 0 where build_id = $1', [build.id]);
  await progressPipeline(work, build.pipeline_id, null);
}

const putBack = `
  with back as (
    update builds set status = 'pending', runner_id = null, started_at = null
    where id = $1 and status = 'running' returning id, project_id, job_id, created_at
  ), ${queueBuilds('back', '$2')}`;
