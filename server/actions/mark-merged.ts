import type { FollowedRow } from '../queries/followed-requests.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { changeMergeRequestState } from './merge-request-changes.ts';
import { queueRemoval } from './queue-removal.ts';

export interface Merger {
  userId: number;
  /** How it was merged; null when its commits came to the target without that. */
  merge: {
    commitSha: string;
    /** Where the target branch was. */
    ontoSha: string;
    message: string;
    removesSourceBranch: boolean;
  } | null;
}

/**
 * Says of a merge request that it has been merged, which is true already, with all that follows.
 *
 * @param work inside a transaction that holds the row.
 */
export async function markMerged(work: Work, row: FollowedRow, { userId, merge }: Merger): Promise<void> {
  await sql(work.em, update, [
    ...[row.id, userId, merge?.commitSha ?? null, merge?.message ?? null],
    ...[merge?.removesSourceBranch ?? false, merge?.ontoSha ?? null],
  ]);
  if (merge?.removesSourceBranch) await queueRemoval(work, row.id);
  await changeMergeRequestState(work, { mergeRequest: row, state: 'merged', userId });
}

const update = `
  update merge_requests set merge_user_id = $2, merge_commit_sha = $3, merge_message = $4, removes_source_branch = $5,
    merge_status = case when $6::text is null then merge_status else 'can_be_merged' end,
    checked_source_sha = case when $6::text is null then checked_source_sha else head_sha end,
    checked_target_sha = coalesce($6, checked_target_sha)
  where id = $1`;
