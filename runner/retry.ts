import { setTimeout as sleep } from 'node:timers/promises';

/** A request that did not bring what was asked for. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
  /** HTTP status, or null when there was no answer at all. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

/** Statuses of uploads and downloads that would be the same the next time. */
const finalStatuses = new Set([401, 403, 404, 413]);

/** Whether moving an archive may work when it is tried again. */
export function isPassing(error: unknown): boolean {
  return error instanceof RequestFault && (error.status === null || !finalStatuses.has(error.status));
}

export interface RetryOptions {
  /** How often the action is tried in all. */
  attempts: number;
  /** Milliseconds between two of them. */
  pause: number;
  signal: AbortSignal;
}

/** Repeats an action while it fails by a passing fault. */
export async function withRetries<T>(options: RetryOptions, action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      options.signal.throwIfAborted();
      if (attempt >= options.attempts || !isPassing(error)) throw error;
      await sleep(options.pause, undefined, { signal: options.signal });
    }
  }
}
