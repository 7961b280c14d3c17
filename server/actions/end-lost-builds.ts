import type { Work } from '../services.ts';
import { inTransaction, sql } from '../sql.ts';
import { returnBuild } from './claim-build.ts';
import { finishBuild } from './finish-build.ts';
import { addServerLine } from './trace.ts';

/** How long a runner may be silent, seconds: neither a question of its own, nor a part of the trace. */
const silentRunner = 10 * 60;
const silentTrace = 15 * 60;
/** A runner begins the trace at once. One that has not done so by then never got its build. */
const unheard = 3 * 60;
/** A runner ends its builds itself when their time is over; this much later the server does it. */
const timeoutGrace = 10 * 60;
const longestWait = 24 * 3600;
/** Builds ended in one round; the next round takes the rest. */
const perRound = 500;

interface LostBuild {
  id: number;
  pipeline_id: number;
  status: 'pending' | 'running';
  reason: 'runner_lost' | 'timeout' | 'no_runner';
}

const causes: Record<LostBuild['reason'], { text: string; reason: string }> = {
  runner_lost: {
    text: 'the runner is gone: nothing was heard of it any more',
    reason: 'runner_system_failure',
  },
  timeout: { text: 'the build took longer than its time limit', reason: 'stuck_or_timeout_failure' },
  no_runner: { text: 'no runner took the build for a day', reason: 'stuck_or_timeout_failure' },
};

/** While no server was there to hear it, the silence of a runner says nothing. */
const serving = `
  serving as (
    select coalesce(min(serving_since), '-infinity') as since from working_servers
    where seen_at > now() - interval '1 minute'
  )`;

const findLost = `
  with ${serving}
  select b.id, b.pipeline_id, b.status, case
      when b.started_at < now() - make_interval(secs => p.build_timeout + ${timeoutGrace}) then 'timeout'
      else 'runner_lost' end as reason
    from serving s cross join builds b join projects p on p.id = b.project_id join traces t on t.build_id = b.id
      left join runners r on r.id = b.runner_id
    where b.status = 'running' and (
      b.started_at < now() - make_interval(secs => p.build_timeout + ${timeoutGrace})
      or (greatest(b.started_at, t.touched_at, s.since) < now() - make_interval(secs => ${silentTrace})
        and greatest(b.started_at, r.contacted_at, s.since) < now() - make_interval(secs => ${silentRunner})))
  union all
  select q.build_id, b.pipeline_id, 'pending', 'no_runner'
    from pending_builds q join builds b on b.id = q.build_id
    where q.created_at < now() - make_interval(secs => ${longestWait})
  limit ${perRound}`;

/** Handed out, and no word of it since: the answer to the runner got lost, or the runner did. */
const findUnheard = `
  with ${serving}
  select b.id, b.pipeline_id
    from serving s cross join builds b join traces t on t.build_id = b.id
    where b.status = 'running' and t.length = 0 and t.touched_at <= b.started_at
      and greatest(b.started_at, s.since) < now() - make_interval(secs => ${unheard})
  limit ${perRound}`;

/**
 * Fails builds that nobody will end any more, and writes the cause into their traces: their runner is gone, their
 * time is over, or no runner came for them. Those that their runner never began go back into the queue.
 */
export async function endLostBuilds(work: Work): Promise<void> {
  const unheardOf = await sql<{ id: number; pipeline_id: number }>(work.em, findUnheard);
  for (const build of unheardOf) {
    await inTransaction(work, (inner) => returnBuild(inner, build));
    work.log.warn({ build: build.id }, 'put a build back into the queue that its runner never began');
  }
  const lost = await sql<LostBuild>(work.em, findLost);
  for (const build of lost) await inTransaction(work, (inner) => endBuild(inner, build));
}

async function endBuild(work: Work, build: LostBuild): Promise<void> {
  const { text, reason } = causes[build.reason];
  const isEnded = await finishBuild(work, {
    buildId: build.id,
    pipelineId: build.pipeline_id,
    status: 'failed',
    from: [build.status],
    failureReason: reason,
  });
  if (!isEnded) return;
  await addServerLine(work, build.id, `ERROR: Job failed: ${text}`);
  work.log.info({ build: build.id, reason }, 'ended a lost build');
}
