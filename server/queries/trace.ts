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

/** Fetched at once: parts may be of many megabytes, or of a few bytes. One part is fetched whatever its size. */
const batch = { parts: 1000, bytes: 1024 * 1024 };
/** What is given out is cut to this length, so that a reader lets others have their turn. */
const chunkSize = 256 * 1024;

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
    const parts = await sql<PartRow>(em, nextParts, [buildId, offset]);
    const before = offset;
    for (const part of parts) {
      const slice = part.bytes.subarray(offset - part.start, end - part.start);
      offset += slice.length;
      for (let at = 0; at < slice.length; at += chunkSize) yield slice.subarray(at, at + chunkSize);
    }
    if (offset === before) return;
  }
}

/** The bytes of parts that are not given back are not read either: their lengths lie beside them. */
const nextParts = `
  select start::float8 as start, bytes from (
    select start, bytes, sum(length(bytes)) over (order by start) - length(bytes) as before from (
      select start, bytes from trace_parts
      where build_id = $1 and start >= coalesce((select max(start) from trace_parts
        where build_id = $1 and start <= $2), 0)
      order by start limit ${batch.parts}) next) sized
  where before < ${batch.bytes} order by start`;
