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
  /** A paused runner takes nothing. */
  isActive: boolean;
  isShared: boolean;
  tags: string[];
  runUntagged: boolean;
  /** Projects of a specific runner. */
  projectIds: ReadonlySet<number>;
}

/** The place of one runner in the line. */
export interface Place {
  /** Says what the runner can take, from now on. Nothing before the first call. */
  change(taker: Taker): void;
  /** Resolves at a hint since the last call, after `ms`, when `signal` fires, or when wake-ups stop. */
  next(ms: number, signal: AbortSignal): Promise<void>;
  /** Leaves the line. Hints of other builds than the claimed one go on to whoever waits behind. */
  done(claimedBuild: number | null): void;
}

interface Waiter {
  runnerId: number;
  taker: Taker | null;
  wake(build: BuildWaits | null): void;
}

const reconnectMs = 1000;
const connectLimitMs = 10_000;

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
  /** A loss is told once, not at each try to get the connection back. */
  #isLost = false;

  constructor(url: string, log: Logger) {
    this.#url = url;
    this.#log = log;
  }

  /** Starts to listen; a lost connection is made anew until `stop`. */
  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'hearth wake-ups',
      connectionTimeoutMillis: connectLimitMs,
    });
    client.on('notification', ({ payload }) => this.#dispatch(payload ?? ''));
    client.on('error', (error) => this.#reconnect(client, error));
    client.on('end', () => this.#reconnect(client, null));
    try {
      await client.connect();
      await client.query(`listen ${wakeupChannel}`);
      if (this.#stopped) return await client.end();
      this.#client = client;
      this.#isLost = false;
      // What was told while nobody listened is found by asking.
      this.#wake(() => true);
    } catch (error) {
      this.#reconnect(client, error);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#retry) clearTimeout(this.#retry);
    this.#wake(() => true);
    await this.#client?.end();
  }

  /** Joins the line. To miss no build, a runner joins, says what it can take, and only then asks the database. */
  register(runnerId: number): Place {
    let isHinted = false;
    let hints: BuildWaits[] = [];
    let resolve: (() => void) | null = null;
    const waiter: Waiter = {
      runnerId,
      taker: null,
      wake(build) {
        isHinted = true;
        if (build) hints.push(build);
        resolve?.();
      },
    };
    this.#waiters.add(waiter);
    return {
      change: (taker) => {
        waiter.taker = taker;
      },
      next: async (ms, signal) => {
        this.#moveBack(waiter);
        // Those were asked for, and are gone or cannot be had.
        if (!isHinted) hints = [];
        if (!isHinted && !signal.aborted && !this.#stopped) {
          await waitFor({ ms, signal, ready: (wake) => (resolve = wake) });
        }
        isHinted = false;
        resolve = null;
      },
      done: (claimedBuild) => {
        this.#waiters.delete(waiter);
        for (const hint of hints) if (hint.build !== claimedBuild) this.#offer(hint);
      },
    };
  }

  /** How many runners wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  #dispatch(payload: string): void {
    const told = JSON.parse(payload) as BuildWaits | { runner: number } | { project: number };
    if ('build' in told) this.#offer(told);
    else if ('runner' in told) this.#wake((waiter) => waiter.runnerId === told.runner);
    else this.#wake(() => true);
  }

  /** Wakes the one that has waited longest of those who may take the build. */
  #offer(build: BuildWaits): void {
    for (const waiter of this.#waiters) {
      if (!waiter.taker || !mayTake(waiter.taker, build)) continue;
      this.#moveBack(waiter);
      waiter.wake(build);
      return;
    }
  }

  #moveBack(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    this.#waiters.add(waiter);
  }

  #wake(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) if (isMeant(waiter)) waiter.wake(null);
  }

  #reconnect(client: pg.Client, error: unknown): void {
    if (this.#stopped || this.#retry || (this.#client !== null && this.#client !== client)) return;
    this.#client = null;
    if (!this.#isLost) this.#log.warn({ err: error ?? undefined }, 'lost the connection for wake-ups');
    this.#isLost = true;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      client.removeAllListeners();
      // An error after the loss is no news, and without a listener it would end the process.
      client.on('error', () => undefined);
      // It may be open still, when only LISTEN failed; that it is gone already is as good.
      client.end().catch(() => undefined);
      void this.start();
    }, reconnectMs);
  }
}

function mayTake(taker: Taker, build: BuildWaits): boolean {
  if (!taker.isActive) return false;
  if (taker.isShared ? !build.shared : !taker.projectIds.has(build.project)) return false;
  if (build.tags.length === 0) return taker.runUntagged;
  return build.tags.every((tag) => taker.tags.includes(tag));
}

interface Wait {
  ms: number;
  signal: AbortSignal;
  /** Gets the function that ends the wait. */
  ready(wake: () => void): void;
}

function waitFor({ ms, signal, ready }: Wait): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
    ready(finish);
  });
}
