import pg from 'pg';
import type { Logger } from 'pino';

/** Channel on which a transaction tells every server that a build waits, or that a runner changed. */
export const wakeupChannel = 'hearth_builds';

interface BuildWaits {
  build: number;
  project: number;
  tags: string[];
  /** The project takes shared runners. */
  shared: boolean;
}

/** What a waiting runner can take. */
export interface Taker {
  runnerId: number;
  isShared: boolean;
  tags: string[];
  runUntagged: boolean;
  /** Projects of a specific runner. */
  projectIds: ReadonlySet<number>;
}

interface Waiter extends Taker {
  wake(): void;
}

const reconnectMs = 1000;

/**
 * Runners that wait for a build in this process, woken through LISTEN. A wake-up is only a hint: whoever is
 * woken asks the database, and nothing is lost when a hint is.
 */
export class BuildWakeups {
  readonly #waiters = new Set<Waiter>();
  readonly #url: string;
  readonly #log: Logger;
  #client: pg.Client | null = null;
  #retry: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(url: string, log: Logger) {
    this.#url = url;
    this.#log = log;
  }

  /** Starts to listen; a lost connection is made anew until `stop`. */
  async start(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'hearth wake-ups' });
    client.on('notification', ({ payload }) => this.#dispatch(payload ?? ''));
    client.on('error', (error) => this.#reconnect(client, error));
    client.on('end', () => this.#reconnect(client, null));
    try {
      await client.connect();
      await client.query(`listen ${wakeupChannel}`);
      this.#client = client;
      // What was told while nobody listened is found by asking.
      this.#wakeAll();
    } catch (error) {
      this.#reconnect(client, error);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#retry) clearTimeout(this.#retry);
    this.#wakeAll();
    await this.#client?.end();
  }

  /**
   * Registers a taker before it asks the database, so that no build slips in between.
   *
   * @returns `next` resolves at a hint, after `ms`, or when `signal` fires; `done` ends the registration.
   */
  register(taker: Taker): { next(ms: number, signal: AbortSignal): Promise<void>; done(): void } {
    let hinted = false;
    let resolve: (() => void) | null = null;
    const waiter: Waiter = {
      ...taker,
      wake() {
        hinted = true;
        resolve?.();
      },
    };
    this.#waiters.add(waiter);
    return {
      next: async (ms, signal) => {
        // Behind the others: the longest waiting is woken first.
        this.#waiters.delete(waiter);
        this.#waiters.add(waiter);
        if (!hinted && !signal.aborted && !this.#stopped) {
          await new Promise<void>((done) => {
            const timer = setTimeout(done, ms);
            const finish = () => {
              clearTimeout(timer);
              done();
            };
            resolve = finish;
            signal.addEventListener('abort', finish, { once: true });
          });
        }
        hinted = false;
        resolve = null;
      },
      done: () => this.#waiters.delete(waiter),
    };
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  #dispatch(payload: string): void {
    const told = JSON.parse(payload) as BuildWaits | { runner: number };
    if ('runner' in told) {
      for (const waiter of this.#waiters) if (waiter.runnerId === told.runner) waiter.wake();
      return;
    }
    for (const waiter of this.#waiters) {
      if (!mayTake(waiter, told)) continue;
      this.#waiters.delete(waiter);
      this.#waiters.add(waiter);
      waiter.wake();
      return;
    }
  }

  #wakeAll(): void {
    for (const waiter of this.#waiters) waiter.wake();
  }

  #reconnect(client: pg.Client, error: unknown): void {
    if (this.#stopped || this.#retry || (this.#client !== null && this.#client !== client)) return;
    this.#client = null;
    this.#log.warn({ err: error ?? undefined }, 'lost the connection for wake-ups');
    this.#retry = setTimeout(() => {
      this.#retry = null;
      client.removeAllListeners();
      // An error after the loss is no news, and without a listener it would end the process.
      client.on('error', () => undefined);
      void this.start();
    }, reconnectMs);
  }
}

function mayTake(waiter: Waiter, build: BuildWaits): boolean {
  if (waiter.isShared ? !build.shared : !waiter.projectIds.has(build.project)) return false;
  if (build.tags.length === 0) return waiter.runUntagged;
  return build.tags.every((tag) => waiter.tags.includes(tag));
}
