import { conflict, notAllowed, notFound, unauthorized } from '../errors.ts';
import { GitTimeoutError } from '../git/errors.ts';
import { type MergeOutcome, mergeTrees } from '../git/merge.ts';
import { canMergeInto } from '../policy/branch-protection.ts';
import { isOpen } from '../policy/merge-request.ts';
import { isWorkInProgress } from '../policy/work-in-progress.ts';
import { editRules } from '../queries/edit-rules.ts';
import { type MergeFacts, mergeFacts } from '../queries/merge-facts.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { inTransaction } from '../sql.ts';
import { waitForBuild } from './automatic-merge.ts';
import { cannotBeMerged, commitMerge } from './commit-merge.ts';
import { inTurn } from './in-turn.ts';
import { readTips } from './merge-request-tips.ts';
import { settleOutstanding } from './record-push.ts';
import { refreshHead } from './refresh-merge-request.ts';
import { removeAtOnce } from './remove-source-branch.ts';

export interface Acceptance {
  viewer: Viewer;
  /** Of the target. */
  project: ProjectScope;
  mergeRequest: Pick<MergeRequestRow, 'id' | 'target_branch'>;
  /** Of the merge commit; the usual one where none is given. */
  message?: string | undefined;
  removesSourceBranch?: boolean | undefined;
  /** Merges later, and by itself, while builds of its commits are still to come. */
  whenBuildSucceeds?: boolean | undefined;
  /** The newest commit that the caller knows of. */
  sha?: string | undefined;
  /** Nobody asks for it now: somebody wished for it before, and can take that back. */
  isAutomatic?: boolean;
}

/** `waits`: it is going to be merged when its builds have succeeded. */
export type AcceptEnd = 'merged' | 'waits';

const waitMs = 30_000;
const attempts = 6;

/**
 * Merges a merge request by a commit on its target branch, with all that follows from a push of that. What is true of
 * the merge request is written by the settling of that push alone, so that a crash in between leaves either all or
 * nothing of it.
 *
 * @param work outside a transaction.
 * @throws AppError 401 without the right, 404 when it is gone, 405 when it is not open, not ready by its title, or
 * cannot be merged, also because others push to the target all the time; 409 when it has other commits than the caller
 * knows of, or the project is being imported. Nothing has changed then.
 */
export async function acceptMergeRequest(work: Work, wish: Acceptance): Promise<AcceptEnd> {
  const { id, target_branch } = wish.mergeRequest;
  const place = `${repositoryOf(work, wish.project)} ${target_branch}`;
  const end = await inTurn(place, waitMs, () => accept(work, wish));
  if (end === 'merged' && wish.removesSourceBranch) await removeAtOnce(work, id);
  return end;
}

async function accept(work: Work, wish: Acceptance): Promise<AcceptEnd> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    // Whoever was faster may not have written yet what follows from it.
    if (attempt > 0) await settleOutstanding(work, wish.project.id);
    const end = await tryOnce(work, wish, { isLast: attempt === attempts - 1 });
    if (end !== 'again') return end;
  }
  throw cannotBeMerged();
}

async function tryOnce(
  work: Work,
  wish: Acceptance,
  { isLast }: { isLast: boolean },
): Promise<AcceptEnd | 'again'> {
  const { row, seconds } = await checkRules(work, wish);
  const tips = await readTips(work, row);
  const { source, target, targetDir } = tips;
  if (source === null || target === null) throw cannotBeMerged();
  if (source !== row.head_sha) return catchUp(work, row);
  const outcome = await outcomeOf(targetDir, target, source);
  // Perhaps somebody else has just merged it.
  if (outcome.kind === 'contained' && !isLast) return 'again';
  if (outcome.kind !== 'clean') throw cannotBeMerged();
  if (wish.sha !== undefined && wish.sha !== source) {
    throw conflict(`SHA does not match HEAD of source branch: ${source}`);
  }
  if (wish.whenBuildSucceeds) {
    const end = await waitForBuild(work, wish, row);
    if (end !== 'now') return end;
  }
  const { treeId } = outcome;
  const { viewer, message, removesSourceBranch = false } = wish;
  const where = { treeId, dir: targetDir, source, target };
  return commitMerge(work, { viewer, row, message, removesSourceBranch, seconds, ...where });
}

/** @returns the request as it is now, and the database's time in seconds. */
async function checkRules(work: Work, wish: Acceptance): Promise<{ row: MergeFacts; seconds: number }> {
  const { viewer, project } = wish;
  const row = await mergeFacts(work.em, wish.mergeRequest.id);
  if (!row || row.project_id !== project.id) throw notFound();
  const rules = await editRules(work.em, project.id, row.target_branch);
  if (rules === null) throw notFound('Project');
  if (!canMergeInto(viewer, project, rules.protection)) throw unauthorized();
  if (!isOpen(row) || isWorkInProgress(row.title)) throw notAllowed();
  if (wish.isAutomatic && !row.merge_when_build_succeeds) throw notAllowed();
  // What it would change is replaced when the import ends.
  if (rules.isImporting) throw conflict('The project is being imported');
  return { row, seconds: rules.now };
}

/** The source branch was pushed to, and what follows from that has not been written yet. */
async function catchUp(work: Work, row: MergeFacts): Promise<'again'> {
  if (row.source_project_id !== null) await settleOutstanding(work, row.source_project_id);
  await inTransaction(work, (inner) => refreshHead(inner, row.id));
  return 'again';
}

async function outcomeOf(dir: string, ours: string, theirs: string): Promise<MergeOutcome> {
  try {
    return await mergeTrees(dir, ours, theirs);
  } catch (error) {
    if (error instanceof GitTimeoutError) throw cannotBeMerged(error);
    throw error;
  }
}
