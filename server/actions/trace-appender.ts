import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildStatus } from '../../shared/build-status.ts';
import { sql, sqlOne } from '../sql.ts';

export interface TracePart {
  buildId: number;
  /** Offset in bytes. */
  start: number;
  /** Its bytes, one after the other: they are put together once, in what goes to the database. */
  pieces: Buffer[];
}

/** Where a trace ends now, and the state of its build. Null when nothing was appended. */
export type Appended = { length: number; status: BuildStatus } | null;

interface Waiting {
  part: TracePart;
  resolve(appended: Appended | Promise<Appended>): void;
  reject(error: unknown): void;
}

/** Statements at work at once: one writes while the next is sent. */
const mostAtWork = 2;
/** Bytes of one statement, unless a single part has more. */
const batchBytes = 1024 * 1024;

/**
 * Appends parts of traces. Those that come while others are being written go together, one of each trace in a
 * statement, as they share a commit: where many builds report at once, most of the work is sending and committing.
 */
export class TraceAppender {
  readonly #em: EntityManager;
  #waiting: Waiting[] = [];
  #atWork = 0;

  /** @param em outside of any transaction. */
  constructor(em: EntityManager) {
    this.#em = em;
  }

  /**
   * Appends a part of at least one byte under the lock of its trace. When it returns, the bytes are durable.
   *
   * @returns null when the part does not start at the end, the trace is in the blob store, or the build is erased
   * or gone.
   */
  append(part: TracePart): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ part, resolve, reject });
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#atWork < mostAtWork && this.#waiting.length > 0) {
      this.#atWork += 1;
      void this.#write(this.#take()).finally(() => {
        this.#atWork -= 1;
        this.#begin();
      });
    }
  }

  /** The oldest parts that go together. */
  #take(): Waiting[] {
    const taken = new Map<number, Waiting>();
    const left: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const { buildId, pieces } = waiting.part;
      const own = sizeOf(pieces);
      const fits = taken.size === 0 || bytes + own <= batchBytes;
      if (!fits || taken.has(buildId)) {
        left.push(waiting);
        continue;
      }
      taken.set(buildId, waiting);
      bytes += own;
    }
    this.#waiting = left;
    return [...taken.values()];
  }

  /** A trace that somebody holds is left out, so that it keeps nobody waiting, and is waited for by itself. */
  async #write(batch: Waiting[]): Promise<void> {
    try {
      const [only] = batch;
      if (batch.length > 1 || !only) return await this.#appendAll(batch);
      const appended = await this.#appendOne(only.part, tryOne);
      only.resolve(appended ?? this.#appendOne(only.part));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #appendOne({ buildId, start, pieces }: TracePart, statement = appendOne): Promise<Appended> {
    const [first = Buffer.alloc(0), ...rest] = pieces;
    const bytes = rest.length === 0 ? first : Buffer.concat(pieces);
    return sqlOne(this.#em, statement, [buildId, start, bytes.length, bytes]);
  }

  async #appendAll(batch: Waiting[]): Promise<void> {
    const parts = batch.map(({ part }) => part);
    const rows = await sql<{ build_id: number } & NonNullable<Appended>>(this.#em, appendAll, [
      parts.map(({ buildId }) => buildId),
      parts.map(({ start }) => start),
      parts.map(({ pieces }) => sizeOf(pieces)),
      Buffer.concat(parts.flatMap(({ pieces }) => pieces)),
    ]);
    const appended = new Map(rows.map((row) => [row.build_id, row]));
    for (const { part, resolve } of batch) resolve(appended.get(part.buildId) ?? this.#appendOne(part));
  }
}

export function sizeOf(pieces: Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Rows of builds `b` whose traces `t` take parts. */
export const openTraces = `builds b join projects p on p.id = b.project_id and not p.pending_delete`;
export const isOpen = 'b.id = t.build_id and b.erased_at is null and t.blob_key is null';

const appendOne = appendTo('$1');
const tryOne = appendTo('(select build_id from traces where build_id = $1 for update skip locked)');

function appendTo(trace: string): string {
  return `
  with grown as (
    update traces t set touched_at = now(), length = t.length + $3 from ${openTraces}
    where t.build_id = ${trace} and t.length = $2 and ${isOpen} returning t.length, b.status
  ), part as (
    insert into trace_parts (build_id, start, bytes) select $1, $2, $4 from grown
  )
  select length::float8 as length, status from grown`;
}

const appendAll = `
  with given as (
    select build_id, start, size, sum(size) over (order by n) - size as skipped
    from unnest($1::int[], $2::int[], $3::int[]) with ordinality as g (build_id, start, size, n)
  ), held as (
    select g.*, b.status from given g join traces t on t.build_id = g.build_id cross join ${openTraces}
    where t.length = g.start and ${isOpen} order by t.build_id for update of t skip locked
  ), grown as (
    update traces t set touched_at = now(), length = t.length + h.size from held h
    where t.build_id = h.build_id returning t.build_id, t.length, h.status, h.start, h.size, h.skipped
  ), part as (
    insert into trace_parts (build_id, start, bytes)
    select build_id, start, substr($4::bytea, skipped::int + 1, size) from grown
  )
  select build_id, length::float8 as length, status from grown`;
