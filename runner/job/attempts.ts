import { setTimeout as sleep } from 'node:timers/promises';
import { ExecutorError } from '../executor/executor-error.ts';

export interface Attempts {
  count: number;
  /** Milliseconds between them. */
  pause: number;
  signal: AbortSignal;
  onFailure(error: Error): Promise<void>;
}

/** Repeats a step that failed. What is the fault of the build itself, or a stop, ends it at once. */
export async function withAttempts<T>(attempts: Attempts, action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      attempts.signal.throwIfAborted();
      if (attempt >= attempts.count || isUserFault(error)) throw error;
      await attempts.onFailure(error as Error);
      await sleep(attempts.pause, undefined, { signal: attempts.signal });
    }
  }
}

/** Whether the job or the config asks for something impossible, so that trying again is useless. */
export function isUserFault(error: unknown): error is ExecutorError {
  return error instanceof ExecutorError && error.kind === 'user';
}
