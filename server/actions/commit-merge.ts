import { isDeepStrictEqual } from 'node:util';
import { isDiskFull } from '../disk-full.ts';
import { AppError, cannotBeDone } from '../errors.ts';
import { newCommit } from '../git/commit-object.ts';
import { GitError, RefConflictError } from '../git/errors.ts';
import { writeObjects } from '../git/write-objects.ts';
import { mergeMessage } from '../policy/merge-message.ts';
import { holdMergeFacts, type MergeFacts } from '../queries/merge-facts.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { moveRef } from './move-ref.ts';

export interface MergeCommit {
  viewer: Viewer;
  row: MergeFacts;
  message: string | undefined;
  removesSourceBranch: boolean;
  /** The database's time. */
  seconds: number;
  /** What comes out of merging the two commits, in this repository. */
  treeId: string;
  dir: string;
  source: string;
  target: string;
}

/**
 * Puts the merge of a request on its target branch, by a commit of the viewer.
 *
 * @param work outside a transaction.
 * @returns `again` when the branch is somewhere else by now, or somebody has changed the request; nothing has changed
 * then.
 * @throws AppError 405 when git refuses.
 */
export async function commitMerge(work: Work, merging: MergeCommit): Promise<'merged' | 'again'> {
  const { viewer, row, removesSourceBranch, seconds, treeId, dir, source, target } = merging;
  const message = merging.message ?? mergeMessage(row);
  const parentIds = [target, source];
  const commit = newCommit({ treeId, parentIds, author: viewer, committer: viewer, seconds, message });
  try {
    await writeObjects(dir, [commit]);
    await moveRef(work, {
      projectId: row.project_id,
      userId: viewer.id,
      ref: `refs/heads/${row.target_branch}`,
      oldSha: target,
      newSha: commit.sha,
      merge: { id: row.id, headSha: source, message, removesSourceBranch },
      hold: (inner) => holdAsJudged(inner, row),
    });
    return 'merged';
  } catch (error) {
    if (error instanceof RefConflictError || error instanceof ChangedMeanwhile) return 'again';
    if (!(error instanceof GitError) || isDiskFull(error)) throw error;
    work.log.warn({ err: error, mergeRequest: row.id }, 'a merge was refused by git');
    throw cannotBeMerged(error);
  }
}

class ChangedMeanwhile extends Error {}

/** Whoever changes the request from then on sees the push that merges it, and waits for its end. */
async function holdAsJudged({ em }: Work, row: MergeFacts): Promise<void> {
  if (!isDeepStrictEqual(await holdMergeFacts(em, row.id), row)) throw new ChangedMeanwhile();
}

/** The interface's answer to every reason why branches cannot be merged. */
export function cannotBeMerged(cause?: GitError): AppError {
  const { status, body } = cannotBeDone('Branch cannot be merged');
  return new AppError({ status, message: body, cause });
}
