import { RefConflictError } from '../git/errors.ts';
import { zeroSha } from '../git/ref-name.ts';
import { canPushTo } from '../policy/branch-protection.ts';
import { findProjectScope } from '../queries/project-scope.ts';
import { protectionOf } from '../queries/protected-branches.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { moveRef } from './move-ref.ts';
import { removalKey } from './queue-removal.ts';

/** After the transaction of `queueRemoval`. A failure here is mended by the task. */
export async function removeAtOnce(work: Work, mergeRequestId: number): Promise<void> {
  try {
    await removeSourceBranch(work, mergeRequestId);
    await work.queue.remove(work.em, removalKey(mergeRequestId));
  } catch (error) {
    work.log.error({ err: error, mergeRequest: mergeRequestId }, 'a source branch could not be removed yet');
  }
}

interface MergedRow {
  source_project_id: number;
  source_branch: string;
  head_sha: string;
  merge_user_id: number;
}

/**
 * Removes the branch that a merged request came from, in the name of the one who merged it and wanted that: if it is
 * still as it was merged, not protected, not the default branch, and he may push to it. Else it stays, without a word.
 *
 * @param work outside a transaction.
 */
export async function removeSourceBranch(work: Work, mergeRequestId: number): Promise<void> {
  const row = await sqlOne<MergedRow>(work.em, find, [mergeRequestId]);
  if (!row || !(await mayRemove(work, row))) return;
  const { source_project_id: projectId, merge_user_id: userId, head_sha: oldSha } = row;
  const ref = `refs/heads/${row.source_branch}`;
  try {
    await moveRef(work, { projectId, userId, ref, oldSha, newSha: zeroSha });
  } catch (error) {
    if (!(error instanceof RefConflictError)) throw error;
    work.log.info({ mergeRequest: mergeRequestId }, 'a source branch stays: it was moved since the merge');
  }
}

const find = `
  select source_project_id, source_branch, head_sha, merge_user_id from merge_requests
  where id = $1 and state = 'merged' and removes_source_branch and source_project_id is not null
    and head_sha is not null and merge_user_id is not null`;

async function mayRemove(work: Work, row: MergedRow): Promise<boolean> {
  const key = { by: 'id', value: row.merge_user_id } as const;
  const found = await findProjectScope(work.em, key, String(row.source_project_id));
  if (!found?.project || found.viewer.state !== 'active') return false;
  if (row.source_branch === found.project.default_branch) return false;
  const protection = await protectionOf(work.em, row.source_project_id, row.source_branch);
  return protection === null && canPushTo(found.viewer, found.project, protection);
}
