import { rangeNotSatisfiable } from '../errors.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

/**
 * Appends a part under the lock of the build's trace. When it returns, the bytes are durable.
 *
 * @param start offset of the part in bytes; must be the stored length.
 * @returns the new length. A trace that was already moved to the blob store takes nothing more and tells the
 * length that it has.
 * @throws AppError 416 with the stored length when the part starts elsewhere.
 */
export async function appendTrace(
  { em }: Work,
  { buildId, start, bytes }: { buildId: number; start: number; bytes: Buffer },
): Promise<number> {
  const place = [buildId, start];
  const grown =
    bytes.length > 0
      ? await sqlOne<{ length: number }>(em, grow, [...place, bytes.length, bytes])
      : await sqlOne<{ length: number }>(em, touch, place);
  if (grown) return grown.length;
  const stored = await sqlOne<{ length: number; is_archived: boolean }>(
    em,
    'select length::float8 as length, blob_key is not null as is_archived from traces where build_id = $1',
    [buildId],
  );
  const length = stored?.length ?? 0;
  if (stored?.is_archived && start === length) return length;
  throw rangeNotSatisfiable(length);
}

const grow = `
  with grown as (
    update traces set length = length + $3, touched_at = now()
    where build_id = $1 and length = $2 and blob_key is null returning length
  ), part as (
    insert into trace_parts (build_id, start, bytes) select $1, $2, $4 from grown
  )
  select length::float8 as length from grown`;

/** An empty part is a sign of life. */
const touch = `
  update traces set touched_at = now() where build_id = $1 and length = $2 and blob_key is null
  returning length::float8 as length`;

/** Puts a whole trace in place of what is stored, in the transaction of `em`. */
export async function replaceTrace({ em }: Work, buildId: number, trace: Buffer): Promise<void> {
  const row = await sqlOne<{ blob_key: string | null }>(
    em,
    'select blob_key from traces where build_id = $1 for update',
    [buildId],
  );
  if (!row || row.blob_key) return;
  await sql(em, 'delete from trace_parts where build_id = $1', [buildId]);
  await sql(em, 'update traces set length = $2, touched_at = now() where build_id = $1', [
    buildId,
    trace.length,
  ]);
  const size = 1024 * 1024;
  for (let start = 0; start < trace.length; start += size) {
    const bytes = trace.subarray(start, start + size);
    await sql(em, 'insert into trace_parts (build_id, start, bytes) values ($1, $2, $3)', [
      buildId,
      start,
      bytes,
    ]);
  }
}

/** Adds a line of the server's own at the end of a trace whose build is over, in the transaction of `em`. */
export async function addServerLine({ em }: Work, buildId: number, text: string): Promise<void> {
  const row = await sqlOne<{ length: number; blob_key: string | null }>(
    em,
    'select length::float8 as length, blob_key from traces where build_id = $1 for update',
    [buildId],
  );
  if (!row || row.blob_key) return;
  const bytes = Buffer.from(`${row.length > 0 ? '\n' : ''}\u001b[31;1m${text}\u001b[0m\n`);
  await sql(em, 'insert into trace_parts (build_id, start, bytes) values ($1, $2, $3)', [
    buildId,
    row.length,
    bytes,
  ]);
  await sql(em, 'update traces set length = length + $2 where build_id = $1', [buildId, bytes.length]);
}
