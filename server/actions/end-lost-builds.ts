import { lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql } from '../sql.ts';
import { type BuildEnd, closeBuild, finishBuild } from './finish-build.ts';
import { runAgain } from './retry-build.ts';
import { addServerLine } from './trace.ts';

/** How long a runner may be silent, seconds: neither a question of its own, nor a part of the trace. */
const silentRunner = 10 * 60;
const silentTrace = 15 * 60;
/** A runner begins the trace at once. One that has not done so by then never got its build. */
const unheard = 3 * 60;
/** A job whose builds are begun by nobody is given up after so many. */
const mostRuns = 3;
/** A runner ends its builds itself when their time is over; this much later the server does it. */
const timeoutGrace = 10 * 60;
const longestWait = 24 * 3600;
/** Builds ended in one round; the next round takes the rest. */
const perRound = 500;

interface LostBuild {
  id: number;
  pipeline_id: number;
  status: 'pending' | 'running';
  reason: 'runner_lost' | 'timeout' | 'no_runner' | 'unheard';
}

const causes: Record<LostBuild['reason'], { text: string; reason: string }> = {
  runner_lost: {
    text: 'the runner is gone: nothing was heard of it any more',
    reason: 'runner_system_failure',
  },
  timeout: { text: 'the build took longer than its time limit', reason: 'stuck_or_timeout_failure' },
  unheard: { text: 'its runner never began it', reason: 'runner_system_failure' },
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
  select b.id, b.pipeline_id, b.job_id, (select count(*)::int from builds e where e.job_id = b.job_id) as runs
    from serving s cross join builds b join traces t on t.build_id = b.id
    where b.status = 'running' and t.length = 0 and t.touched_at <= b.started_at
      and greatest(b.started_at, s.since) < now() - make_interval(secs => ${unheard})
  limit ${perRound}`;

interface UnheardBuild {
  id: number;
  pipeline_id: number;
  job_id: number;
  /** Builds that the job has had. */
  runs: number;
}

/**
 * Fails builds that nobody will end any more, and writes the cause into their traces: their runner is gone, their
 * time is over, or no runner came for them. For those that their runner never began, another one waits then.
 */
export async function endLostBuilds(work: Work): Promise<void> {
  const unheardOf = await sql<UnheardBuild>(work.em, findUnheard);
  for (const build of unheardOf) await inTransaction(work, (inner) => replaceUnheard(inner, build));
  const lost = await sql<LostBuild>(work.em, findLost);
  for (const build of lost) await inTransaction(work, (inner) => endBuild(inner, build));
}

/**
 * The new build has an id and a token of its own: should a runner be at work on the old one after all, cut off from
 * here, then it learns that the build has failed, and mixes with nobody.
 */
async function replaceUnheard(work: Work, build: UnheardBuild): Promise<void> {
  if (build.runs >= mostRuns) return endBuild(work, { ...build, status: 'running', reason: 'unheard' });
  await lockPipeline(work.em, build.pipeline_id);
  const ended = await closeBuild(work, endOf({ ...build, status: 'running', reason: 'unheard' }));
  if (!ended) return;
  const place = { pipelineId: build.pipeline_id, jobIds: [build.job_id], userId: ended.userId };
  const [next] = await runAgain(work, place);
  await addServerLine(
    work,
    build.id,
    `ERROR: Job failed: ${causes.unheard.text}; it waits again as build ${next}`,
  );
  work.log.warn({ build: build.id, next }, 'replaced a build that its runner never began');
}

async function endBuild(work: Work, build: LostBuild): Promise<void> {
  if (!(await finishBuild(work, endOf(build)))) return;
  const { text, reason } = causes[build.reason];
  await addServerLine(work, build.id, `ERROR: Job failed: ${text}`);
  work.log.info({ build: build.id, reason }, 'ended a lost build');
}

function endOf({ id, pipeline_id, status, reason }: LostBuild): BuildEnd {
  const failureReason = causes[reason].reason;
  return { buildId: id, pipelineId: pipeline_id, status: 'failed', from: [status], failureReason };
}
