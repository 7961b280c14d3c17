import { RunnerClient } from './client.ts';
import type { Registration, RunnerConfig } from './config.ts';
import { createExecutor } from './executors.ts';
import type { HostEnvironment } from './host-environment.ts';
import { traceTiming } from './job/trace-upload.ts';
import type { Log } from './log.ts';
import { RegistrationWorker, type WorkerTiming } from './registration-worker.ts';
import { SlotPool } from './slots.ts';
import { runnerInfo } from './version.ts';

export const workerTiming: WorkerTiming = {
  job: { trace: traceTiming, stepRetry: 3000, afterScriptLimit: 5 * 60_000 },
  backoffFirst: 1000,
  backoffMax: 60_000,
  housekeeping: 60 * 60_000,
  longWait: 50,
  shortWait: 3,
};

export interface WorkerOptions {
  config: RunnerConfig;
  configPath: string;
  hostEnvironment: HostEnvironment;
  log: Log;
  timing?: WorkerTiming;
}

interface Member {
  /** What the worker was made from; another text means another worker. */
  source: string;
  drain: AbortController;
  done: Promise<void>;
}

/** All registrations of one config file, and the slots that they share. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #slots: SlotPool;
  readonly #live = new Set<number>();
  readonly #shutdown = new AbortController();
  readonly #members = new Map<string, Member>();
  /** Workers whose registration has gone; their builds run to the end. */
  readonly #leaving = new Set<Promise<void>>();
  #checkInterval: number;
  #isDraining = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#slots = new SlotPool(options.config.concurrent);
    this.#checkInterval = options.config.check_interval;
  }

  start(): void {
    this.apply(this.#options.config);
  }

  /** Takes over a config that has changed; builds that run are left alone. */
  apply(config: RunnerConfig): void {
    if (this.#isDraining) return;
    this.#slots.resize(config.concurrent);
    this.#checkInterval = config.check_interval;
    const wanted = new Map(config.runners.map((runner) => [runner.name, runner]));
    for (const [name, member] of this.#members) {
      const registration = wanted.get(name);
      if (registration && JSON.stringify(registration) === member.source) wanted.delete(name);
      else this.#dismiss(name, member);
    }
    for (const registration of wanted.values()) this.#employ(registration);
    this.#options.log.info(
      { concurrent: config.concurrent, runners: config.runners.length },
      'config applied',
    );
  }

  /** Asks for no more builds. */
  drain(): void {
    this.#isDraining = true;
    for (const [name, member] of this.#members) this.#dismiss(name, member);
  }

  /** Asks for no more builds and ends those that run; they are reported as failed. */
  abort(): void {
    this.drain();
    this.#shutdown.abort();
  }

  /** Comes back once every build that ran when draining began has been reported. */
  async finished(): Promise<void> {
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
  }

  #dismiss(name: string, member: Member): void {
    this.#members.delete(name);
    const done = member.done.finally(() => this.#leaving.delete(done));
    this.#leaving.add(done);
    member.drain.abort();
  }

  #employ(registration: Registration): void {
    const drain = new AbortController();
    const log = this.#options.log.child({ runner: registration.name });
    const done = this.#work(registration, drain.signal).catch((error: Error) => {
      log.error({ reason: error.message }, 'this registration cannot be served');
    });
    this.#members.set(registration.name, { source: JSON.stringify(registration), drain, done });
  }

  async #work(registration: Registration, drain: AbortSignal): Promise<void> {
    const { hostEnvironment, configPath, log, timing } = this.#options;
    const executor = await createExecutor(registration, { environment: hostEnvironment.job, log });
    const worker = new RegistrationWorker({
      registration,
      client: new RunnerClient({ url: registration.url, info: runnerInfo }),
      executor,
      slots: this.#slots,
      live: this.#live,
      drain,
      shutdown: this.#shutdown.signal,
      configPath,
      checkInterval: () => this.#checkInterval,
      siblings: () => this.#members.size,
      hostEnvironment,
      log: log.child({ runner: registration.name }),
      timing: timing ?? workerTiming,
    });
    await worker.run();
  }
}
