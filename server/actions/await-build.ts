import { forbidden } from '../errors.ts';
import type { PayloadRow } from '../queries/build-payload.ts';
import { projectsOfRunner } from '../queries/runner-projects.ts';
import { type RunnerRow, runnerById } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';
import type { Taker } from '../wakeups.ts';
import { claimBuild } from './claim-build.ts';

/** A hint may get lost with a connection; asking again now and then costs little. */
const askAgainMs = 15_000;

export interface Waiting {
  runnerId: number;
  waitMs: number;
  /** Fires when the runner has gone away. */
  signal: AbortSignal;
}

/**
 * Claims as soon as there is something to claim, or gives up after the time that the runner is ready to wait. A
 * paused runner waits too, and gets nothing before it is active again.
 *
 * @throws AppError 403 when the runner is removed meanwhile.
 */
export async function awaitBuild(
  work: Work,
  { runnerId, waitMs, signal }: Waiting,
): Promise<PayloadRow | null> {
  const deadline = Date.now() + waitMs;
  const place = work.wakeups.register(runnerId);
  let claimed: PayloadRow | null = null;
  try {
    for (;;) {
      const runner = await runnerById(work.em, runnerId);
      if (!runner) throw forbidden();
      place.change(await takerOf(work, runner));
      // What comes into the queue from here on is told; what was there before is found.
      if (!signal.aborted) {
        const claim = await claimBuild(work, { by: 'id', value: runnerId });
        claimed = claim?.build ?? null;
      }
      const left = deadline - Date.now();
      if (claimed || left <= 0 || signal.aborted || work.wakeups.stopped) return claimed;
      await place.next(Math.min(left, askAgainMs), signal);
      if (signal.aborted) return null;
    }
  } finally {
    place.done(claimed?.id ?? null);
  }
}

async function takerOf(work: Work, runner: RunnerRow): Promise<Taker> {
  const projects = runner.is_shared ? [] : await projectsOfRunner(work.em, runner.id);
  return {
    isActive: runner.active,
    isShared: runner.is_shared,
    tags: runner.tag_list,
    runUntagged: runner.run_untagged,
    projectIds: new Set(projects.map((project) => project.id)),
  };
}
