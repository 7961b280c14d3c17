import { statfs } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { backoffDelay } from '../../shared/retry.ts';
import { type EmbeddedPostgres, type EmbeddedRequest, startEmbeddedPostgres } from './embedded.ts';
import type { PostgresLog, ServerProcess } from './server-process.ts';

export interface SupervisorTiming {
  /** Milliseconds before the first restart, and the most before any. The delay doubles from one to the next. */
  delay: { first: number; max: number };
  /** PostgreSQL that ran for so long has recovered; an end after that is a trouble of its own. */
  settled: number;
  /** How long one trouble may last before PostgreSQL counts as lost. Time with a full disk is left out. */
  patience: number;
}

export const supervisorTiming: SupervisorTiming = {
  delay: { first: 200, max: 15_000 },
  settled: 60_000,
  patience: 5 * 60_000,
};

/** Bytes. A PostgreSQL that cannot be started with less free has the disk to blame. */
const leastRoom = 32 * 1024 * 1024;

/**
 * Keeps the embedded PostgreSQL running: one that ends unasked, however it does, is started again, to be reached
 * under the same address. Whoever uses it finds it away in between, as with any other database.
 */
export class PostgresSupervisor {
  readonly url: string;
  /** Settles with the reason once PostgreSQL is given up; never after `stop`. */
  readonly lost: Promise<string>;
  readonly #embedded: EmbeddedPostgres;
  readonly #dir: string;
  readonly #log: PostgresLog;
  readonly #timing: SupervisorTiming;
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;
  #server: ServerProcess;
  #lose: (reason: string) => void = () => undefined;
  /** When the present trouble began, or the disk was last found full in it. */
  #troubleSince = 0;
  #failures = 0;

  constructor(embedded: EmbeddedPostgres, { dir, log, timing }: SupervisorOptions) {
    this.url = embedded.url;
    this.#embedded = embedded;
    this.#server = embedded;
    this.#dir = dir;
    this.#log = log;
    this.#timing = timing ?? supervisorTiming;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.#loop = this.#watch();
  }

  /** Number of the process that runs now, or ran last. */
  get pid(): number {
    return this.#server.pid;
  }

  /** Ends PostgreSQL, also in the middle of a restart. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#server.stop();
    await this.#loop;
  }

  async #watch(): Promise<void> {
    for (let isUp = true; isUp; isUp = await this.#recover()) {
      const start = Date.now();
      const how = await this.#server.exited;
      if (this.#stopping.signal.aborted) return;
      const end = Date.now();
      if (this.#failures === 0 || end - start > this.#timing.settled) this.#begin(end);
      this.#log.error(`the database ended: ${this.#reasonOf(how)}. It is being restarted`);
    }
  }

  #begin(now: number): void {
    this.#failures = 0;
    this.#troubleSince = now;
  }

  /** PostgreSQL's own last words say more than its exit code. */
  #reasonOf(how: string): string {
    const telling = this.#server.lastWords().filter((line) => /^(PANIC|FATAL|ERROR):/.test(line));
    return [how, ...telling.slice(-1)].join(': ');
  }

  /** @returns false when PostgreSQL is given up, or is not wanted any more. */
  async #recover(): Promise<boolean> {
    const { signal } = this.#stopping;
    const start = Date.now();
    while (!signal.aborted) {
      this.#failures += 1;
      // Only the signal ends the wait early; the next look finds it.
      const delay = backoffDelay(this.#failures, this.#timing.delay);
      await wait(delay, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return false;
      try {
        this.#server = await this.#embedded.relaunch(signal);
        if (signal.aborted) await this.#server.stop();
        this.#log.warn(`the database is back, after ${Date.now() - start} ms`);
        return true;
      } catch (error) {
        if (!signal.aborted && (await this.#isHopeless(error as Error))) return false;
      }
    }
    return false;
  }

  async #isHopeless({ message }: Error): Promise<boolean> {
    const now = Date.now();
    if (/No space left on device|Disk quota exceeded/.test(message) || (await this.#isFull())) {
      // Only somebody who makes room can help, and then it goes on by itself.
      this.#troubleSince = now;
      this.#log.error(`the database waits for room on its disk (${this.#dir}): ${message}`);
      return false;
    }
    this.#log.error(message);
    if (now - this.#troubleSince < this.#timing.patience) return false;
    this.#lose(message);
    return true;
  }

  async #isFull(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#dir);
      return bavail * bsize < leastRoom;
    } catch {
      return false; // a disk that cannot even be asked has another fault
    }
  }
}

interface SupervisorOptions {
  dir: string;
  log: PostgresLog;
  timing?: SupervisorTiming | undefined;
}

/** As `startEmbeddedPostgres`, and it is kept running. */
export async function superviseEmbeddedPostgres(
  request: EmbeddedRequest & { timing?: SupervisorTiming },
): Promise<PostgresSupervisor> {
  return new PostgresSupervisor(await startEmbeddedPostgres(request), request);
}
