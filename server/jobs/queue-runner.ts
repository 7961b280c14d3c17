import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Runner, type RunnerOptions, run, type WorkerEvents } from 'graphile-worker';
import type { Logger } from 'pino';
import { backoffDelay } from '../../shared/retry.ts';
import type { Attendance } from './attendance.ts';

interface Session {
  runner: Runner;
  /** Settles when it cannot go on, for whatever reason. */
  over: Promise<unknown>;
}

/** How long tasks may take to finish once they are to stop. */
const endLimitMs = 15_000;
const delays = { first: 500, max: 5000 };

/**
 * Carries out background tasks, across losses of the database. After each loss the tasks are taken up under a new
 * name: what was locked under the old one may be locked by nobody, when the answer to the locking got lost.
 */
export class QueueRunner {
  readonly #options: RunnerOptions;
  readonly #attendance: Attendance;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: RunnerOptions, { attendance, log }: { attendance: Attendance; log: Logger }) {
    this.#options = options;
    this.#attendance = attendance;
    this.#log = log;
  }

  /** @throws Error when the first session cannot begin. */
  async start(): Promise<void> {
    const first = await this.#begin();
    this.#loop = this.#keep(first);
  }

  /** Lets running tasks finish. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #keep(first: Session): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    for (let session: Session | null = first; session; session = await this.#beginAgain()) {
      if (!signal.aborted) await Promise.race([session.over, stopped]);
      await end(session);
      if (!signal.aborted) this.#log.warn('background tasks were interrupted; taking them up again');
    }
  }

  async #begin(): Promise<Session> {
    // Its own type for this is not that of an event emitter.
    const events = new EventEmitter() as unknown as WorkerEvents;
    let name = '';
    events.once('pool:create', ({ workerPool }) => {
      name = workerPool.id;
    });
    const broken = new Promise<void>((resolve) => {
      events.once('worker:getJob:error', () => resolve());
      events.once('pool:fatalError', () => resolve());
    });
    const runner = await run({ ...this.#options, events });
    const over = Promise.race([runner.promise.catch(() => undefined), broken]);
    await this.#attendance.work(name);
    return { runner, over };
  }

  /** @returns null once it is to stop. */
  async #beginAgain(): Promise<Session | null> {
    const { signal } = this.#stopping;
    for (let failures = 1; !signal.aborted; failures += 1) {
      // Only the signal ends the wait early; the next look finds it.
      await wait(backoffDelay(failures, delays), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return null;
      try {
        return await this.#begin();
      } catch (error) {
        this.#log.debug({ err: error }, 'background tasks cannot be taken up yet');
      }
    }
    return null;
  }
}

/** Waits for running tasks; one that takes longer is repeated under another name, here or in another server. */
async function end({ runner }: Session): Promise<void> {
  const limit = new AbortController();
  // One that ended by itself refuses to be stopped, and one that lost its connections may never get there.
  const ended = runner.stop().catch(() => undefined);
  const tooLong = wait(endLimitMs, undefined, { signal: limit.signal }).catch(() => undefined);
  await Promise.race([ended, tooLong]);
  limit.abort();
}
