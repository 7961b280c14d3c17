import { setTimeout as sleep } from 'node:timers/promises';
import { backoffDelay } from '../../shared/retry.ts';
import { ExecutorError } from '../executor/executor-error.ts';
import { GitFault } from './git.ts';

export interface Attempts {
  count: number;
  /** Milliseconds between them. */
  pause: number;
  signal: AbortSignal;
  onFailure(error: Error): Promise<void>;
}

/** Milliseconds that a server may be away before a step gives up on it, and the longest pause between two tries. */
const patience = 35 * 60_000;
const longestPause = 60_000;

/**
 * Repeats a step that failed. What is the fault of the build itself, or a stop, ends it at once. A server that is
 * away says nothing about the step: it is waited for, with pauses that grow.
 */
export async function withAttempts<T>(attempts: Attempts, action: () => Promise<T>): Promise<T> {
  const { count, pause, signal } = attempts;
  let failures = 0;
  let outage: { since: number; tries: number } | null = null;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GitFault && error.isOutage) {
        outage ??= { since: Date.now(), tries: 0 };
        outage.tries += 1;
        if (Date.now() - outage.since >= patience) throw error;
      } else {
        outage = null;
        failures += 1;
        if (failures >= count || isUserFault(error)) throw error;
      }
      await attempts.onFailure(error as Error);
      const delay = outage ? backoffDelay(outage.tries, { first: pause, max: longestPause }) : pause;
      await sleep(delay, undefined, { signal });
    }
  }
}

/** Whether the job or the config asks for something impossible, so that trying again is useless. */
export function isUserFault(error: unknown): error is ExecutorError {
  return error instanceof ExecutorError && error.kind === 'user';
}
