import type { MergeRequestRow, MergeStatus } from '../queries/merge-request-row.ts';
import type { Work } from '../services.ts';

/** Stand-in. */
export async function refreshHead(_work: Work, _mergeRequestId: number): Promise<void> {}

/** Stand-in. */
export async function checkMergeStatus(_work: Work, row: MergeRequestRow): Promise<MergeStatus> {
  return row.merge_status;
}
