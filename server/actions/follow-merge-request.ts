import { removeHeadRef, setHeadRef } from '../git/merge-request-refs.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { inTransaction, sqlOne } from '../sql.ts';
import { refreshHead } from './refresh-merge-request.ts';

/** By then it has mostly been done by the request itself. */
const firstLookSeconds = 20;

/** Sees to it that `followMergeRequest` is done, whatever becomes of this process after the transaction. */
export async function queueFollow({ em, queue }: Work, mergeRequestId: number): Promise<void> {
  const options = { delaySeconds: firstLookSeconds, key: keyOf(mergeRequestId) };
  await queue.add(em, 'follow_merge_request', { mergeRequestId }, options);
}

function keyOf(mergeRequestId: number): string {
  return `follow_merge_request:${mergeRequestId}`;
}

/** After the transaction of `queueFollow`. A failure here is mended by the task. */
export async function followAtOnce(work: Work, mergeRequestId: number): Promise<void> {
  try {
    await followMergeRequest(work, mergeRequestId);
    await work.queue.remove(work.em, keyOf(mergeRequestId));
  } catch (error) {
    work.log.error(
      { err: error, mergeRequest: mergeRequestId },
      'the head of a merge request is not set yet',
    );
  }
}

/**
 * Brings the repository in line with a merge request that was made, opened again or taken away, and the merge request
 * with what was pushed to its branch before others could see that it is there. Safe to repeat.
 */
export async function followMergeRequest(work: Work, mergeRequestId: number): Promise<void> {
  await inTransaction(work, async (inner) => {
    const row = await sqlOne<FollowedRow>(inner.em, hold, [mergeRequestId]);
    if (!row) return;
    const place = { dir: repositoryOf(work, { id: row.project_id }), iid: row.iid };
    if (row.is_gone) return removeHeadRef(place);
    if (row.head_sha !== null) await setHeadRef({ ...place, sha: row.head_sha });
    await refreshHead(inner, mergeRequestId);
  });
}

interface FollowedRow {
  project_id: number;
  iid: number;
  head_sha: string | null;
  is_gone: boolean;
}

const hold = `select t.project_id, t.iid, t.head_sha, t.deleted_at is not null as is_gone
  from merge_requests t join projects p on p.id = t.project_id and not p.pending_delete
  where t.id = $1 for no key update of t`;
