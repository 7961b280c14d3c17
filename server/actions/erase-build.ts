import { isFinished } from '../../shared/build-status.ts';
import { forbidden } from '../errors.ts';
import type { BuildRow } from '../queries/build-row.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/**
 * Removes trace and artifacts of a finished build. With nothing to remove it changes nothing.
 *
 * @throws AppError 403 for a pending or running build.
 */
export async function eraseBuild(work: Work, build: BuildRow, userId: number): Promise<void> {
  const { em } = work;
  const current = await sqlOne<{ status: BuildRow['status']; artifacts_key: string | null }>(
    em,
    'select status, artifacts_key from builds where id = $1 for update',
    [build.id],
  );
  if (!current || !isFinished(current.status)) throw forbidden('Build is not erasable!');
  const trace = await sqlOne<{ blob_key: string | null }>(
    em,
    'select blob_key from traces where build_id = $1 for update',
    [build.id],
  );
  for (const key of [current.artifacts_key, trace?.blob_key]) {
    if (key) await work.queue.add(em, 'remove_blob', { key });
  }
  // With the row goes the place that a late part, checked before this, could still be written to.
  await sqlOne(em, 'delete from traces where build_id = $1', [build.id]);
  await sqlOne(
    em,
    `update builds set artifacts_key = null, artifacts_filename = null, artifacts_size = null,
       artifacts_expire_at = null, erased_at = coalesce(erased_at, now()), erased_by_id = coalesce(erased_by_id, $2)
     where id = $1`,
    [build.id, userId],
  );
}
