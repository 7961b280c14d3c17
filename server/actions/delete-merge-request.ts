import { notFound } from '../errors.ts';
import type { Work } from '../services.ts';
import { inTransaction, sqlOne } from '../sql.ts';
import { followAtOnce, queueFollow } from './follow-merge-request.ts';
import { forgetActivity } from './forget-activity.ts';

/**
 * Takes a merge request away for everybody, from the activity of its project too, and its head from those who fetch. Its
 * number stays taken.
 *
 * @param work outside a transaction: git comes after it.
 * @throws AppError 404 when that was done meanwhile.
 */
export async function deleteMergeRequest(work: Work, id: number): Promise<void> {
  await inTransaction(work, async (inner) => {
    if (!(await sqlOne(inner.em, remove, [id]))) throw notFound();
    await forgetActivity(inner, { type: 'MergeRequest', id });
    await queueFollow(inner, id);
  });
  await followAtOnce(work, id);
}

const remove = `update merge_requests set deleted_at = now(), merge_when_build_succeeds = false
  where id = $1 and deleted_at is null returning id`;
