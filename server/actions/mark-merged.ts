import type { MergeIntent } from '../entities/push.ts';
import { mergeBase } from '../git/history.ts';
import { setHeadRef } from '../git/merge-request-refs.ts';
import type { FollowedRow } from '../queries/followed-requests.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { changeMergeRequestState } from './merge-request-changes.ts';
import { queueRemoval } from './queue-removal.ts';

/**
 * Says of a merge request that its commits have come to the target without its being merged, which counts as much.
 *
 * @param work inside a transaction that holds the row.
 */
export async function markMergedByHand(work: Work, row: FollowedRow, userId: number): Promise<void> {
  await sql(work.em, byHand, [row.id, userId]);
  await changeMergeRequestState(work, { mergeRequest: row, state: 'merged', userId });
}

const byHand = `
  update merge_requests set merge_user_id = $2, merge_commit_sha = null, merge_message = null,
    removes_source_branch = false where id = $1`;

export interface Merger extends Omit<MergeIntent, 'id'> {
  userId: number;
  commitSha: string;
  /** Where the target branch was. */
  ontoSha: string;
}

/**
 * Says of a merge request that it was merged, which it was, with all that follows.
 *
 * @param work inside a transaction that holds the row.
 */
export async function markMerged(work: Work, row: FollowedRow, merger: Merger): Promise<void> {
  const { userId, commitSha, ontoSha, headSha, message, removesSourceBranch } = merger;
  const base = await settleHead(work, row, merger);
  await sql(work.em, update, [
    ...[row.id, userId, commitSha, message, removesSourceBranch],
    ...[headSha, base, ontoSha],
  ]);
  if (removesSourceBranch) await queueRemoval(work, row.id);
  await changeMergeRequestState(work, { mergeRequest: row, state: 'merged', userId });
}

const update = `
  update merge_requests set merge_user_id = $2, merge_commit_sha = $3, merge_message = $4, removes_source_branch = $5,
    head_sha = $6, base_sha = $7, merge_status = 'can_be_merged', checked_source_sha = $6, checked_target_sha = $8
  where id = $1`;

/** What was pushed to the source while it was being merged came too late. @returns the common ancestor. */
async function settleHead(work: Work, row: FollowedRow, merger: Merger): Promise<string | null> {
  const { headSha, ontoSha } = merger;
  if (row.head_sha === headSha) return row.base_sha;
  const dir = repositoryOf(work, { id: row.project_id });
  await setHeadRef({ dir, iid: row.iid, sha: headSha });
  return mergeBase(dir, [ontoSha, headSha]);
}
