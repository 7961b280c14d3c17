import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';

export interface AttendanceTiming {
  /** Milliseconds between two signs of life. */
  beat: number;
}

export const attendanceTiming: AttendanceTiming = { beat: 10_000 };

/** Without a sign of life for so long, a server counts as gone. Several beats, by the clock of the database. */
const gone = `interval '1 minute'`;

/**
 * Shows the other servers that this one is alive, and frees the background tasks of those that are not: each of
 * them would stay locked for hours otherwise.
 */
export class Attendance {
  readonly #id = randomUUID();
  readonly #pool: pg.Pool;
  readonly #log: Logger;
  readonly #timing: AttendanceTiming;
  #worker: string | null = null;
  /** Names under which it may have tasks that are still locked. */
  readonly #former = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #isAway = false;
  #last: Promise<void> = Promise.resolve();

  constructor(pool: pg.Pool, log: Logger, timing: AttendanceTiming = attendanceTiming) {
    this.#pool = pool;
    this.#log = log;
    this.#timing = timing;
  }

  /** Comes back once the others can know of this server, or the database cannot be reached. */
  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      this.#last = this.#beat();
    }, this.#timing.beat);
  }

  /** Tells the name under which this server locks tasks from now on; tasks under its former names are freed. */
  async work(worker: string): Promise<void> {
    if (this.#worker !== null) this.#former.add(this.#worker);
    this.#worker = worker;
    await this.#beat();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#last;
    await this.#pool.query('delete from working_servers where id = $1', [this.#id]).catch((error: Error) => {
      this.#log.debug({ err: error }, 'could not sign off; the others will notice');
    });
  }

  async #freeFormer(): Promise<void> {
    const names = [...this.#former];
    if (names.length === 0) return;
    await this.#pool.query(unlock, [names]);
    for (const name of names) this.#former.delete(name);
  }

  async #beat(): Promise<void> {
    try {
      await this.#pool.query(show, [this.#id, this.#worker]);
      await this.#freeFormer();
      const { rows } = await this.#pool.query<{ locked_by: string }>(findDead);
      const dead = rows.map((row) => row.locked_by);
      if (dead.length > 0) {
        await this.#pool.query(unlock, [dead]);
        this.#log.warn({ workers: dead }, 'took over the background tasks of servers that are gone');
      }
      await this.#pool.query(forget);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#log.warn({ err: error }, 'cannot tell the database that this server is alive');
      this.#isAway = true;
    }
  }
}

const show = `
  insert into working_servers as s (id, worker) values ($1, $2)
  on conflict (id) do update set worker = excluded.worker, seen_at = now(),
    serving_since = case when s.seen_at < now() - ${gone} then now() else s.serving_since end`;

/** A lock that is quite new may be of a server that is about to show itself. */
const findDead = `
  select distinct j.locked_by from graphile_worker.jobs j
  where j.locked_at < now() - ${gone} and not exists (
    select from working_servers s where s.worker = j.locked_by and s.seen_at > now() - ${gone})`;

const unlock = 'select graphile_worker.force_unlock_workers($1::text[])';

const forget = `delete from working_servers where seen_at < now() - interval '1 day'`;
