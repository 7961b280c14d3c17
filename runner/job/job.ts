import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import type { Executor } from '../executor/executor.ts';
import { isUserFault } from './attempts.ts';
import type { BuildApi } from './build-api.ts';
import { BuildStopped, type Outcome } from './outcome.ts';
import { longestDelay } from './time-limit.ts';
import type { Trace } from './trace.ts';
import { noticeLine, type Section, sectionEnd, sectionStart, warningLine } from './trace-text.ts';
import type { TraceTiming } from './trace-upload.ts';
import type { RunnerFacts } from './variables.ts';

export interface JobLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
}

/** Milliseconds. */
export interface JobTiming {
  trace: TraceTiming;
  /** Between two tries of a step. */
  stepRetry: number;
  afterScriptLimit: number;
}

export interface JobRequest {
  build: BuildPayload;
  executor: Executor;
  api: BuildApi;
  runner: RunnerFacts & { name: string; token: string };
  directories: {
    /** Working copy of this slot. */
    project: string;
    /** Caches of this project. */
    cache: string;
    /** For this build alone; removed at its end. */
    temporary: string;
  };
  /** What git may see of this host's environment. */
  hostEnvironment: Record<string, string>;
  /** Bytes. */
  outputLimit: number;
  /** Fires when the runner is to stop at once. */
  shutdown: AbortSignal;
  /** Hears that something of the build was left where it ran. */
  onUncleaned?(): void;
  log: JobLog;
  timing: JobTiming;
}

/** The signals of a build, and who may fire them. The first cause wins. */
export class JobControl {
  readonly #controller = new AbortController();
  readonly #last = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #shutdown: AbortSignal;
  readonly #onShutdown = () => this.stop({ kind: 'aborted' });

  constructor(timeoutSeconds: number, shutdown: AbortSignal) {
    const seconds = timeoutSeconds > 0 ? timeoutSeconds : 7200;
    const delay = Math.min(seconds * 1000, longestDelay);
    this.#timer = setTimeout(() => this.stop({ kind: 'timed_out', seconds }), delay);
    this.#shutdown = shutdown;
    shutdown.addEventListener('abort', this.#onShutdown);
    if (shutdown.aborted) this.#onShutdown();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** As `signal`, but a user who cancels the build does not fire it: the job may still tidy up. */
  get lastSignal(): AbortSignal {
    return this.#last.signal;
  }

  stop(outcome: Outcome): void {
    const reason = new BuildStopped(outcome);
    this.#controller.abort(reason);
    if (outcome.kind !== 'canceled' || outcome.gone) this.#last.abort(reason);
  }

  /** What the build ends with after an error: the cause of the stop, or the error itself. */
  outcomeOf(error: unknown, during: string): Outcome {
    const reason: unknown = this.signal.aborted ? this.signal.reason : error;
    if (reason instanceof BuildStopped) return reason.outcome;
    const message = reason instanceof Error ? reason.message : String(reason);
    return isUserFault(reason)
      ? { kind: 'impossible', message }
      : { kind: 'system_failure', message, during };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#shutdown.removeEventListener('abort', this.#onShutdown);
  }
}

/** What the steps of one build share. */
export interface Job {
  request: JobRequest;
  /** With image and services expanded. */
  build: BuildPayload;
  variables: BuildVariable[];
  trace: Trace;
  signal: AbortSignal;
  /** Fires when not even an after_script may run any more. */
  lastSignal: AbortSignal;
  notice(text: string): Promise<void>;
  warn(text: string): void;
}

export function createJob(given: Omit<Job, 'notice' | 'warn'>): Job {
  const { trace, request } = given;
  return {
    ...given,
    notice: (text) => trace.write(noticeLine(text)),
    warn(text) {
      trace.write(warningLine(text)).catch((error: Error) => {
        request.log.warn({ build: request.build.id, reason: error.message }, 'trace cannot be written');
      });
    },
  };
}

/** Frames what a step writes, so that a viewer can fold it. */
export async function inSection<T>(job: Job, name: Section, action: () => Promise<T>): Promise<T> {
  await job.trace.write(sectionStart(name, new Date()));
  try {
    return await action();
  } finally {
    await job.trace.write(sectionEnd(name, new Date()));
  }
}
