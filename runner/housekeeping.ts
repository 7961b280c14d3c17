import { setTimeout as sleep } from 'node:timers/promises';
import { backoffDelay } from '../shared/retry.ts';
import type { Log } from './log.ts';

export interface HousekeepingOptions {
  /** What is done in each round, by name; a task that rejects is done again soon. */
  tasks: Record<string, () => Promise<void>>;
  /** Milliseconds between two rounds that went well. */
  interval: number;
  backoffFirst: number;
  backoffMax: number;
  log: Log;
}

/**
 * Does away with what builds left behind whose process or whose engine died: at the start, in every interval, and
 * soon after something went wrong, again and again until it works.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #failures = 0;
  #isDue = false;
  #wake: () => void = () => {};

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** One round. Faults are logged, and tried again by `run`. */
  async round(): Promise<void> {
    const { tasks, log } = this.#options;
    this.#isDue = false;
    const results = await Promise.all(
      Object.entries(tasks).map(async ([task, action]) => {
        try {
          await action();
          return true;
        } catch (error) {
          log.warn(
            { task, reason: (error as Error).message },
            'what builds left behind cannot be dealt with now',
          );
          return false;
        }
      }),
    );
    this.#failures = results.every(Boolean) ? 0 : this.#failures + 1;
  }

  /** Asks for a round as soon as may be: something may have been left. */
  soon(): void {
    this.#isDue = true;
    this.#wake();
  }

  /** Does further rounds until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#pause(signal);
      if (!signal.aborted) await this.round();
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { interval, backoffFirst, backoffMax } = this.#options;
    const isFailing = this.#failures > 0;
    const woken = new AbortController();
    if (this.#isDue && !isFailing) return;
    // While it fails, a further cause is no reason to try faster.
    this.#wake = () => !isFailing && woken.abort();
    const delay = isFailing
      ? backoffDelay(this.#failures, { first: backoffFirst, max: backoffMax })
      : interval;
    // Ended early by either signal, which is all that an error here means.
    await sleep(delay, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {});
    this.#wake = () => {};
  }
}
