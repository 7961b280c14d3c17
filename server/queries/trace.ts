import type { EntityManager } from '@mikro-orm/postgresql';
import { sql, sqlOne } from '../sql.ts';

export interface TraceRow {
  length: number;
  blob_key: string | null;
}

interface PartRow {
  start: number;
  bytes: Buffer;
}

/** Parts fetched at once; a part is at most 8 MiB and usually a few KiB. */
const batch = 32;

export async function findTrace(em: EntityManager, buildId: number): Promise<TraceRow | null> {
  return sqlOne<TraceRow>(em, 'select length::float8 as length, blob_key from traces where build_id = $1', [
    buildId,
  ]);
}

/**
 * The stored bytes of a live trace from `start` up to `end`, a few parts at a time. Ends early when the parts
 * have been moved to the blob store meanwhile; the caller then goes on from there.
 */
export async function* liveTrace(
  em: EntityManager,
  { buildId, start, end }: { buildId: number; start: number; end: number },
): AsyncGenerator<Buffer> {
  let offset = start;
  while (offset < end) {
    const parts = await sql<PartRow>(
      em,
      `select start::float8 as start, bytes from trace_parts
       where build_id = $1 and start >= coalesce((select max(start) from trace_parts
         where build_id = $1 and start <= $2), 0) order by start limit ${batch}`,
      [buildId, offset],
    );
    const before = offset;
    for (const part of parts) {
      const slice = part.bytes.subarray(offset - part.start, end - part.start);
      offset += slice.length;
      if (slice.length > 0) yield slice;
    }
    if (offset === before) return;
  }
}
