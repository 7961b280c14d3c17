import { setTimeout as sleep } from 'node:timers/promises';
import type { BuildPayload } from '../shared/protocol/build.ts';
import { backoffDelay } from '../shared/retry.ts';
import type { ClaimAnswer } from './answers.ts';
import { buildClient } from './build-client.ts';
import { buildPaths } from './build-paths.ts';
import type { RunnerClient } from './client.ts';
import type { Registration } from './config.ts';
import type { Executor } from './executor/executor.ts';
import { shortToken } from './executors.ts';
import type { HostEnvironment } from './host-environment.ts';
import { Housekeeping } from './housekeeping.ts';
import type { JobTiming } from './job/job.ts';
import type { Outcome } from './job/outcome.ts';
import { runJob } from './job/run-job.ts';
import type { Log } from './log.ts';
import { reportOrphans } from './orphans.ts';
import { NumberPool, type Slot, SlotPool } from './slots.ts';
import { version } from './version.ts';

/** Milliseconds, but where another unit is named. */
export interface WorkerTiming {
  job: JobTiming;
  backoffFirst: number;
  backoffMax: number;
  /** Between two clean-ups after dead builds. */
  housekeeping: number;
  /** Seconds that the server may hold a question for a build. */
  longWait: number;
  /** The same while other registrations share the slots: a question holds one, which they may need. */
  shortWait: number;
}

export interface RegistrationWorkerOptions {
  registration: Registration;
  client: RunnerClient;
  executor: Executor;
  /** Shared by all registrations of the process, as is the next. */
  slots: SlotPool;
  /** Ids of the builds that run now. */
  live: Set<number>;
  /** Fires when no more builds are to be asked for. */
  drain: AbortSignal;
  /** Fires when the builds that run are to be ended. */
  shutdown: AbortSignal;
  configPath: string;
  checkInterval(): number;
  /** How many registrations share the slots. */
  siblings(): number;
  hostEnvironment: HostEnvironment;
  log: Log;
  timing: WorkerTiming;
}

/** Seconds that the server may hold a question while another registration waits for the slot. */
const crowdedWait = 1;
/** An answer within so many milliseconds is that of a server that does not wait. */
const atOnce = 500;

/** The number of the first; both are given back together. */
function joined(first: Slot, second: Slot): Slot {
  const release = () => {
    first.release();
    second.release();
  };
  return { number: first.number, release };
}

/** Asks one server for builds and runs them. */
export class RegistrationWorker {
  readonly #options: RegistrationWorkerOptions;
  readonly #limit: SlotPool;
  readonly #projects = new Map<number, NumberPool>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #housekeeping: Housekeeping;
  /** Claims that failed one after the other, and the same of preparations. */
  #failures = 0;
  #preparations = 0;
  /** Builds that could not be removed from where they ran. */
  readonly #unclean = new Set<number>();
  /** Whether what builds run in has failed one, and has not shown since that it works. */
  #isSuspect = false;

  constructor(options: RegistrationWorkerOptions) {
    this.#options = options;
    this.#limit = new SlotPool(options.registration.limit ?? Number.MAX_SAFE_INTEGER);
    this.#housekeeping = new Housekeeping({
      tasks: {
        'remove leftovers': () => options.executor.removeLeftovers(options.live),
        'report builds of an earlier process': () => reportOrphans(options),
      },
      interval: options.timing.housekeeping,
      backoffFirst: options.timing.backoffFirst,
      backoffMax: options.timing.backoffMax,
      log: options.log,
    });
  }

  /** Comes back after `drain` has fired and the last build has been reported. */
  async run(): Promise<void> {
    const { drain, executor, log } = this.#options;
    await this.#housekeeping.round();
    const chores = this.#housekeeping.run(drain);
    while (!drain.aborted) await this.#turn();
    await Promise.all([chores, ...this.#running.values()]);
    await executor.close().catch((error: Error) => {
      log.warn({ reason: error.message }, 'what is kept between builds cannot be removed now');
    });
  }

  async #turn(): Promise<void> {
    const { slots, drain } = this.#options;
    const own = await this.#limit.acquire(drain);
    if (!own) return;
    const shared = await slots.acquire(drain);
    if (!shared) return own.release();
    const slot = joined(shared, own);
    if (this.#isSuspect) {
      slot.release();
      return this.#untilUsable();
    }
    const started = Date.now();
    const answer = await this.#claim();
    if (answer?.kind === 'build') {
      this.#failures = 0;
      this.#start(answer.build, slot);
      return;
    }
    slot.release();
    if (answer) await this.#pauseAfter(answer, Date.now() - started);
  }

  /** @returns null when the worker is told to stop meanwhile. */
  async #claim(): Promise<ClaimAnswer | null> {
    const { client, registration, slots, drain, timing } = this.#options;
    const shared = slots.waiting > 0 ? Math.min(crowdedWait, timing.shortWait) : timing.shortWait;
    try {
      return await client.claimBuild({
        token: registration.token,
        executor: registration.executor,
        wait: this.#options.siblings() > 1 ? shared : timing.longWait,
        signal: drain,
      });
    } catch {
      // Only the signal makes it throw.
      return null;
    }
  }

  async #pauseAfter(answer: ClaimAnswer, elapsed: number): Promise<void> {
    const { log, checkInterval } = this.#options;
    if (answer.kind === 'none') {
      this.#failures = 0;
      // A server that waited for a build may be asked again at once.
      if (elapsed < atOnce) await this.#sleep(checkInterval() * 1000);
      return;
    }
    if (answer.kind === 'unreadable') {
      log.error(
        { build: answer.id, reason: answer.reason },
        'the server handed out a build that cannot be read',
      );
      await this.#refuse(answer.id, `the runner cannot read this build: ${answer.reason}`);
    }
    if (answer.kind === 'forbidden') log.warn('the server does not accept this runner');
    if (answer.kind === 'unavailable') log.warn({ reason: answer.reason }, 'the server cannot be asked');
    this.#failures += 1;
    await this.#backOff(this.#failures);
  }

  /** A build taken while the executor is out of order would fail for it; it can wait, or go to another runner. */
  async #untilUsable(): Promise<void> {
    const { executor, drain, log } = this.#options;
    for (let failures = 1; this.#isSuspect && !drain.aborted; failures += 1) {
      try {
        await executor.assertUsable();
        this.#isSuspect = false;
      } catch (error) {
        log.warn({ reason: (error as Error).message }, 'no builds are taken until the executor works again');
        await this.#backOff(failures);
      }
    }
  }

  async #backOff(failures: number): Promise<void> {
    const { timing } = this.#options;
    await this.#sleep(backoffDelay(failures, { first: timing.backoffFirst, max: timing.backoffMax }));
  }

  async #sleep(milliseconds: number): Promise<void> {
    // The drain signal ends the pause; there is nothing else to do about it here.
    await sleep(milliseconds, undefined, { signal: this.#options.drain }).catch(() => {});
  }

  /** The server counts the build as running already: without this it would do so until its own limit. */
  async #refuse(buildId: number | null, reason: string): Promise<void> {
    const { client, registration } = this.#options;
    if (buildId === null) return;
    const trace = `ERROR: Job failed (system failure): ${reason}\n`;
    await client.updateBuild({ buildId, token: registration.token, state: 'failed', trace });
  }

  #start(build: BuildPayload, slot: Slot): void {
    const numbers = this.#projects.get(build.project_id) ?? new NumberPool();
    this.#projects.set(build.project_id, numbers);
    const projectSlot = numbers.take();
    this.#options.live.add(build.id);
    const done = this.#runBuild(build, slot, projectSlot).finally(() => {
      numbers.giveBack(projectSlot);
      if (numbers.isEmpty) this.#projects.delete(build.project_id);
      this.#running.delete(build.id);
      slot.release();
    });
    this.#running.set(build.id, done);
  }

  async #runBuild(build: BuildPayload, slot: Slot, projectSlot: number): Promise<void> {
    const log = this.#options.log.child({ build: build.id, project: build.project_id });
    log.info({ job: build.name, ref: build.ref, sha: build.sha }, 'build started');
    try {
      const outcome = await this.#runJob(build, { slot, projectSlot, log });
      log.info({ outcome }, 'build ended');
      if (outcome.kind === 'system_failure') this.#isSuspect = true;
      this.#ended(build);
      await this.#recover(outcome);
    } catch (error) {
      const reason = (error as Error).message;
      log.error({ reason }, 'build could not be run');
      this.#isSuspect = true;
      await this.#refuse(build.id, `the runner cannot run this build: ${reason}`);
      this.#ended(build);
    }
  }

  /** Whatever is left of the build from here on is a leftover. */
  #ended({ id }: BuildPayload): void {
    this.#options.live.delete(id);
    const isUnclean = this.#unclean.delete(id);
    if (this.#isSuspect || isUnclean) this.#housekeeping.soon();
  }

  #runJob(build: BuildPayload, at: { slot: Slot; projectSlot: number; log: Log }): Promise<Outcome> {
    const { registration, client, executor, shutdown, configPath, timing, hostEnvironment } = this.#options;
    const credentials = { buildId: build.id, buildToken: build.token, runnerToken: registration.token };
    return runJob({
      build,
      executor,
      api: buildClient(client, credentials),
      runner: {
        name: registration.name,
        token: registration.token,
        shortToken: shortToken(registration.token),
        version,
        architecture: process.arch,
        slot: at.slot.number,
        projectSlot: at.projectSlot,
        environment: registration.environment,
      },
      directories: buildPaths({ registration, configPath, build, projectSlot: at.projectSlot }),
      hostEnvironment: hostEnvironment.git,
      outputLimit: registration.output_limit,
      shutdown,
      onUncleaned: () => void this.#unclean.add(build.id),
      log: at.log,
      timing: timing.job,
    });
  }

  /** An executor that cannot prepare anything would fail build after build: the slot rests meanwhile. */
  async #recover(outcome: Outcome): Promise<void> {
    if (outcome.kind !== 'system_failure' || outcome.during !== 'prepare') {
      this.#preparations = 0;
      return;
    }
    this.#preparations += 1;
    await this.#backOff(this.#preparations);
  }
}
