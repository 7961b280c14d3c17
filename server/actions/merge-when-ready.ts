import { AppError } from '../errors.ts';
import { isOpen } from '../policy/merge-request.ts';
import { headPipelineStatus, mergeFacts } from '../queries/merge-facts.ts';
import { findProjectScope } from '../queries/project-scope.ts';
import type { Work } from '../services.ts';
import { acceptMergeRequest } from './accept-merge-request.ts';

/**
 * Merges a merge request in the name of the one who wished for that, if its builds have succeeded and it can be merged
 * now. Else the wish stays: builds may succeed again. Safe to repeat.
 *
 * @param work outside a transaction.
 */
export async function mergeWhenReady(work: Work, mergeRequestId: number): Promise<void> {
  const row = await mergeFacts(work.em, mergeRequestId);
  if (!row?.merge_when_build_succeeds || !isOpen(row) || row.merge_user_id === null) return;
  if ((await headPipelineStatus(work.em, row)) !== 'success') return;
  const key = { by: 'id', value: row.merge_user_id } as const;
  const found = await findProjectScope(work.em, key, String(row.project_id));
  if (!found?.project || found.viewer.state !== 'active') return;
  try {
    await acceptMergeRequest(work, {
      viewer: found.viewer,
      project: found.project,
      mergeRequest: row,
      message: row.merge_message ?? undefined,
      removesSourceBranch: row.removes_source_branch,
      sha: row.head_sha ?? undefined,
      isAutomatic: true,
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    work.log.info({ mergeRequest: row.id, reason: error.body }, 'an automatic merge is not possible');
  }
}
