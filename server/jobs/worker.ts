import { Logger, type RunnerOptions, type TaskList } from 'graphile-worker';
import type pg from 'pg';
import { archiveTrace } from '../actions/archive-trace.ts';
import { closeIssues } from '../actions/close-issues.ts';
import { endLostBuilds } from '../actions/end-lost-builds.ts';
import { endLostImports } from '../actions/end-lost-imports.ts';
import { expireArtifacts } from '../actions/expire-artifacts.ts';
import { traceGraceSeconds } from '../actions/finish-build.ts';
import { followMergeRequest } from '../actions/follow-merge-request.ts';
import { importProject } from '../actions/import-project.ts';
import { measureCoverage } from '../actions/measure-coverage.ts';
import { mergeWhenReady } from '../actions/merge-when-ready.ts';
import { purgeProject } from '../actions/purge-project.ts';
import { purgeNamespace } from '../actions/remove-namespace.ts';
import { removeSourceBranch } from '../actions/remove-source-branch.ts';
import { settlePush } from '../actions/settle-push.ts';
import { sumProjectCounts } from '../actions/sum-project-counts.ts';
import { sweepStagings } from '../actions/sweep-stagings.ts';
import { tidyProject } from '../actions/tidy-repository.ts';
import { translateDatabaseError } from '../database-errors.ts';
import { deliverHook } from '../hooks/deliver.ts';
import { notify } from '../mail/notify.ts';
import { sendMail } from '../mail/send-mail.ts';
import { forgetOver } from '../oauth/web-sessions.ts';
import type { TaskName, TaskPayloads } from '../queue.ts';
import type { Services, Work } from '../services.ts';
import { Attendance } from './attendance.ts';
import { QueueRunner } from './queue-runner.ts';
import { WorkerPool } from './worker-pool.ts';

/** @param signal fires when the server stops, for tasks that take longer than that may. */
type Task<N extends TaskName> = (work: Work, payload: TaskPayloads[N], signal: AbortSignal) => Promise<void>;

/** Every background task. Tasks are repeated after a failure, so each is safe to repeat. */
const tasks: { [N in TaskName]: Task<N> } = {
  async archive_trace(work, { buildId }) {
    if (await archiveTrace(work, buildId)) return;
    const later = { delaySeconds: traceGraceSeconds, key: `archive_trace:${buildId}` };
    await work.queue.add(work.em, 'archive_trace', { buildId }, later);
  },
  close_issues: closeIssues,
  deliver_hook: (work, payload) => deliverHook(work, payload),
  end_lost_builds: endLostBuilds,
  end_lost_imports: endLostImports,
  expire_artifacts: expireArtifacts,
  follow_merge_request: (work, { mergeRequestId }) => followMergeRequest(work, mergeRequestId),
  import_project: (work, { projectId }, signal) => importProject(work, projectId, { signal }),
  forget_over: forgetOver,
  measure_coverage: (work, { buildId }) => measureCoverage(work, buildId),
  merge_when_ready: (work, { mergeRequestId }) => mergeWhenReady(work, mergeRequestId),
  notify,
  purge_namespace: (work, { namespaceId }) => purgeNamespace(work, namespaceId),
  purge_project: (work, { projectId }) => purgeProject(work, projectId),
  async remove_blob(work, { key }) {
    await work.storage.remove(key);
  },
  remove_source_branch: (work, { mergeRequestId }) => removeSourceBranch(work, mergeRequestId),
  send_mail: sendMail,
  async settle_push(work, { pushId }) {
    if (await settlePush(work, pushId, { isOver: false })) return;
    const later = { delaySeconds: 60, key: `settle_push:${pushId}` };
    await work.queue.add(work.em, 'settle_push', { pushId }, later);
  },
  sum_project_counts: sumProjectCounts,
  sweep_stagings: sweepStagings,
  tidy_repository: (work, { projectId }, signal) => tidyProject(work, projectId, signal),
};

/** Tasks that wait for others may take long, so each kind has room of its own: so many at once in each server. */
const slowTasks: Partial<Record<TaskName, number>> = {
  deliver_hook: 10,
  import_project: 2,
  send_mail: 2,
  tidy_repository: 1,
};

/** Periodic tasks: each round runs once, in one of the servers. */
const crontab = [
  '* * * * * end_lost_builds',
  '*/10 * * * * end_lost_imports',
  '*/10 * * * * expire_artifacts',
  '7 * * * * forget_over',
  '*/10 * * * * sum_project_counts',
  '23 * * * * sweep_stagings',
].join('\n');

/** The names of all tasks with the functions that carry them out. */
export function taskList(services: Services): TaskList {
  const entries = Object.entries(tasks).map(([name, task]) => {
    const carryOut = async (payload: unknown, { abortSignal }: { abortSignal: AbortSignal }) => {
      const work: Work = { ...services, em: services.orm.em.fork() as Work['em'], origin: services.baseUrl };
      await (task as Task<never>)(work, payload as never, abortSignal);
    };
    return [name, carryOut];
  });
  return Object.fromEntries(entries);
}

export interface Worker {
  /** Lets running tasks finish. */
  stop(): Promise<void>;
}

/**
 * Carries out background tasks until it is stopped, also across losses of the database, and takes over those of
 * servers that are gone.
 */
export async function startWorker(services: Services, url: string): Promise<Worker> {
  const { log } = services;
  const pool = new WorkerPool({
    connectionString: url,
    // Each lane listens on one of its own, and takes others for moments.
    max: 10,
    connectionTimeoutMillis: 10_000,
    application_name: 'hearth worker',
  });
  const onLoss = (error: Error) => log.warn({ err: error }, 'the worker lost a connection');
  pool.on('error', onLoss);
  pool.on('connect', (client) => client.on('error', onLoss));
  const inUse = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_error, client) => inUse.delete(client));
  const lanes = lanesOf(taskList(services)).map((lane) => {
    const attendance = new Attendance(pool, log);
    return { attendance, runner: new QueueRunner(queueOptions(services, pool, lane), { attendance, log }) };
  });
  for (const { attendance } of lanes) await attendance.start();
  for (const { runner } of lanes) await runner.start();
  return {
    async stop() {
      await Promise.all(lanes.map(({ runner }) => runner.stop()));
      await Promise.all(lanes.map(({ attendance }) => attendance.stop()));
      const ended = pool.end();
      // What is still in use belongs to a task that takes too long, and must not keep the process.
      for (const client of inUse) client.release(true);
      await ended;
    },
  };
}

type Lane = Pick<RunnerOptions, 'taskList' | 'concurrency' | 'crontab'>;

/** Workers that do not wait for each other: one for each slow kind of task, and one for all others. */
function lanesOf(all: TaskList): Lane[] {
  const slow = Object.entries(slowTasks);
  const quick = Object.entries(all).filter(([name]) => !(name in slowTasks));
  return [
    { taskList: Object.fromEntries(quick), concurrency: 2, crontab },
    ...slow.map(([name, concurrency]) => ({
      taskList: Object.fromEntries(Object.entries(all).filter((entry) => entry[0] === name)),
      concurrency,
      crontab: '',
    })),
  ];
}

function queueOptions(services: Services, pool: pg.Pool, lane: Lane): RunnerOptions {
  return {
    ...lane,
    pgPool: pool,
    noHandleSignals: true,
    pollInterval: 2000,
    logger: queueLogger(services),
    preset: {
      worker: {
        // Not because of the delay: without one, a database that is away when a task ends would end the process.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        // Tasks that heed the signal have no better end to wait for.
        gracefulShutdownAbortTimeout: 0,
      },
    },
  };
}

/** Tasks are repeated, so that one which failed with the database is no fault, and neither is its loss. */
export function queueLogger(services: Services): Logger {
  return new Logger(() => (level, message, meta) => {
    if (level !== 'error' && level !== 'warning') return;
    const isFault = meta?.failure === true && translateDatabaseError(meta.error)?.status !== 503;
    if (isFault) services.log.error({ queue: meta?.job ?? undefined, detail: message }, 'background task');
    else services.log.warn({ detail: message }, 'background task');
  });
}
