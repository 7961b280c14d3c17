import { rangeNotSatisfiable } from '../errors.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { type Appended, isOpen, openTraces, sizeOf, type TracePart } from './trace-appender.ts';
import { isFull, traceLimit } from './trace-limit.ts';

/**
 * Takes a part of a trace. When it returns, the bytes are durable.
 *
 * @returns the new length and the state of the build; null when nothing was appended, because the part does not
 * start at the end, the trace is in the blob store, or the build is erased or gone.
 */
export async function appendTrace({ em, traceAppender }: Work, part: TracePart): Promise<Appended> {
  const { buildId, start, pieces } = part;
  const size = sizeOf(pieces);
  const room = Math.max(0, traceLimit - start);
  if (Math.min(size, room) === 0) return sqlOne(em, touch, [buildId, start]);
  if (size <= room) return traceAppender.append(part);
  return traceAppender.append({ buildId, start, pieces: [Buffer.concat(pieces).subarray(0, room)] });
}

/**
 * The length that the sender of a part is told which was not appended. A trace that is full, or was already moved
 * to the blob store, takes nothing more and tells the length that it has.
 *
 * @throws AppError 416 with the stored length when the part starts elsewhere.
 */
export async function lengthForSender({ em }: Work, { buildId, start }: TracePart): Promise<number> {
  const stored = await sqlOne<{ length: number; is_archived: boolean }>(
    em,
    'select length::float8 as length, blob_key is not null as is_archived from traces where build_id = $1',
    [buildId],
  );
  const length = stored?.length ?? 0;
  if (stored?.is_archived && (start === length || (start > length && isFull(length)))) return length;
  throw rangeNotSatisfiable(length);
}

/** An empty part is a sign of life. So is one beyond the end of a full trace: its runner does not know of that. */
const touch = `
  update traces t set touched_at = now() from ${openTraces} where t.build_id = $1 and ${isOpen}
    and (t.length = $2 or $2 > t.length and t.length >= ${traceLimit})
  returning t.length::float8 as length, b.status`;

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
