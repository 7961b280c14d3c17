import { Readable } from 'node:stream';
import { isFinished } from '../../shared/build-status.ts';
import { findTrace, liveTrace } from '../queries/trace.ts';
import type { Work } from '../services.ts';
import { inTransaction, sqlOne } from '../sql.ts';

/**
 * Moves the trace of a finished build from the database to the blob store. Safe to repeat, and to cut off
 * anywhere: until the row names the blob, the parts count.
 *
 * @returns false when the trace grew meanwhile and has to be moved later.
 */
export async function archiveTrace(work: Work, buildId: number): Promise<boolean> {
  const build = await sqlOne<{ status: Parameters<typeof isFinished>[0] }>(
    work.em,
    'select status from builds where id = $1',
    [buildId],
  );
  const trace = await findTrace(work.em, buildId);
  if (!build || !isFinished(build.status) || !trace || trace.blob_key !== null) return true;
  // Closed without a blob.
  if (trace.length === 0) return switchOver(work, { buildId, key: '', length: 0 });
  const key = `traces/${Math.floor(buildId / 1000)}/${buildId}-${trace.length}.txt`;
  const parts = liveTrace(work.em, { buildId, start: 0, end: trace.length });
  const { size } = await work.storage.put(key, Readable.from(parts, { objectMode: false }));
  if (size === trace.length && (await switchOver(work, { buildId, key, length: size }))) return true;
  const now = await findTrace(work.em, buildId);
  if (now?.blob_key === key) return true;
  await work.storage.remove(key);
  return false;
}

async function switchOver(
  work: Work,
  { buildId, key, length }: { buildId: number; key: string; length: number },
): Promise<boolean> {
  return inTransaction(work, async ({ em }) => {
    const moved = await sqlOne(
      em,
      'update traces set blob_key = $2 where build_id = $1 and length = $3 and blob_key is null returning 1',
      [buildId, key, length],
    );
    if (!moved) return false;
    await sqlOne(em, 'delete from trace_parts where build_id = $1', [buildId]);
    return true;
  });
}
