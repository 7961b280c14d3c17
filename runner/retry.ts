import { setTimeout as sleep } from 'node:timers/promises';
import { backoffDelay } from '../shared/retry.ts';

export interface FaultCause {
  /** HTTP status, or null when there was no answer at all. */
  status: number | null;
  /** Of a connection that failed, such as ECONNREFUSED. */
  code?: string | undefined;
}

/** A request that did not bring what was asked for. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
  /** HTTP status, or null when there was no answer at all. */
  readonly status: number | null;
  readonly code: string | undefined;

  constructor(message: string, cause: FaultCause) {
    super(message);
    this.status = cause.status;
    this.code = cause.code;
  }
}

/** Statuses of uploads and downloads that would be the same the next time. */
const finalStatuses = new Set([401, 403, 404, 413]);
/** What a proxy says while there is no server behind it, and a server while its database is away. */
const awayStatuses = new Set([429, 502, 503, 504]);
/** Nobody was there to talk to. A connection that breaks later may be a refusal, and is none of these. */
const awayCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether moving an archive may work when it is tried again. */
export function isPassing(error: unknown): boolean {
  return error instanceof RequestFault && (error.status === null || !finalStatuses.has(error.status));
}

/** Whether the server is away as a whole, so that the fault says nothing about the request. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof RequestFault)) return false;
  return error.status === null ? awayCodes.has(error.code ?? '') : awayStatuses.has(error.status);
}

export interface RetryOptions {
  /** How often the action is tried in all while the server is there. */
  attempts: number;
  /** Milliseconds between two of them; during an outage the first of pauses that grow to sixty times as much. */
  pause: number;
  /** Milliseconds that one outage may last. */
  patience: number;
  signal: AbortSignal;
}

/** Repeats an action while it fails by a passing fault. */
export async function withRetries<T>(options: RetryOptions, action: () => Promise<T>): Promise<T> {
  const { attempts, pause, patience, signal } = options;
  let failures = 0;
  let outage: { since: number; tries: number } | null = null;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      if (isOutage(error)) {
        outage ??= { since: Date.now(), tries: 0 };
        outage.tries += 1;
        if (Date.now() - outage.since >= patience) throw error;
      } else {
        outage = null;
        failures += 1;
        if (failures >= attempts || !isPassing(error)) throw error;
      }
      const delay = outage ? backoffDelay(outage.tries, { first: pause, max: pause * 60 }) : pause;
      await sleep(delay, undefined, { signal });
    }
  }
}
