import { readRefName } from '../../shared/ref-kind.ts';
import type { RefChange } from '../entities/push.ts';
import { GitError } from '../git/errors.ts';
import { isAncestor } from '../git/history.ts';
import { zeroSha } from '../git/ref-name.ts';
import { lookUpRef } from '../git/refs.ts';
import { type FollowedRow, holdFollowed } from '../queries/followed-requests.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { queueFollow } from './follow-merge-request.ts';
import { broughtHeads, type FollowedPush, type Moves, movesOf } from './followed-moves.ts';
import { markMerged, markMergedByHand } from './mark-merged.ts';
import { changeMergeRequestState } from './merge-request-changes.ts';
import { noteBranch } from './note-branch.ts';
import type { Merged } from './queue-closing.ts';
import { refreshHead } from './refresh-merge-request.ts';

/**
 * Brings merge requests up to date with a push: those whose commits came to the target are merged, those whose branch
 * is gone are closed, and those whose source moved have its commits. One statement where there are none.
 *
 * @param work inside the transaction that settles the push, before it holds the row of a project. Each move is followed
 * once, provided that its event is written in the same transaction.
 * @returns those that are merged now.
 */
export async function followPush(work: Work, push: FollowedPush): Promise<Merged[]> {
  const moves = push.applied.filter(({ ref }) => readRefName(ref)?.isTag === false);
  if (moves.length === 0) return [];
  const rows = await holdFollowed(work.em, {
    pushId: push.pushId,
    projectId: push.projectId,
    refs: moves.map(({ ref }) => ref),
    made: moves.filter(isMade).map(({ ref }) => ref),
    merged: moves.flatMap(({ merge }) => (merge ? [merge.id] : [])),
  });
  if (rows.length === 0) return [];
  const byRef = new Map(moves.map((move) => [move.ref, move]));
  const brought = await broughtHeads(work, push, { rows, byRef });
  const kept: FollowedRow[] = [];
  const merged: Merged[] = [];
  for (const row of rows) {
    const end = await followRow(work, { push, byRef, brought, row });
    if (end === 'open') kept.push(row);
    if (end === 'merged') merged.push({ mergeRequestId: row.id, userId: userOf(push, row) });
  }
  await forgetStatus(work, push, { rows: kept, byRef });
  return merged;
}

/** Whoever pushed, or else the author. */
function userOf({ userId }: FollowedPush, { author_id }: FollowedRow): number {
  return userId ?? author_id;
}

type End = 'merged' | 'closed' | 'open';

interface OneRow {
  push: FollowedPush;
  byRef: Moves;
  /** Heads that have come to the target branches of their requests. */
  brought: ReadonlySet<string>;
  row: FollowedRow;
}

/** @returns how the request is now. */
async function followRow(work: Work, { push, byRef, brought, row }: OneRow): Promise<End> {
  const userId = userOf(push, row);
  const { target, source } = movesOf(row, push, byRef);
  for (const { merge, newSha: commitSha, oldSha: ontoSha } of byRef.values()) {
    if (merge?.id !== row.id) continue;
    await markMerged(work, row, { ...merge, userId, commitSha, ontoSha });
    return 'merged';
  }
  if (row.state === 'closed') {
    if (source && isMade(source)) await noteBranch(work, row, { userId, did: 'Restored' });
    return 'closed';
  }
  if (target && brought.has(`${target.ref} ${row.head_sha}`)) {
    await markMergedByHand(work, row, userId);
    return 'merged';
  }
  if (source?.newSha === zeroSha) return endWithoutSource(work, row, userId);
  if (target?.newSha === zeroSha) return close(work, row, userId);
  if (source) await refresh(work, row, userId);
  return 'open';
}

function isMade({ oldSha, newSha }: RefChange): boolean {
  return oldSha === zeroSha && newSha !== zeroSha;
}

async function close(work: Work, row: FollowedRow, userId: number): Promise<'closed'> {
  await changeMergeRequestState(work, { mergeRequest: row, state: 'closed', userId });
  return 'closed';
}

async function endWithoutSource(work: Work, row: FollowedRow, userId: number): Promise<End> {
  await noteBranch(work, row, { userId, did: 'Deleted' });
  if (!(await isInTarget(work, row))) return close(work, row, userId);
  await markMergedByHand(work, row, userId);
  return 'merged';
}

/** Whether the target has all commits of the request, of which there are some. */
async function isInTarget(work: Work, { head_sha, base_sha, ...row }: FollowedRow): Promise<boolean> {
  if (head_sha === null || head_sha === base_sha) return false;
  const dir = repositoryOf(work, { id: row.project_id });
  const target = await lookUpRef(work.objects, dir, `refs/heads/${row.target_branch}`);
  return target !== null && isAncestor(dir, { ancestor: head_sha, descendant: target });
}

/** A history that cannot be brought over must not keep the push from its pipeline; a task tries that again. */
async function refresh(work: Work, row: FollowedRow, userId: number): Promise<void> {
  try {
    await refreshHead(work, row.id, userId);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, mergeRequest: row.id }, 'a merge request is behind its source branch');
    await queueFollow(work, row.id);
  }
}

/** Whether they can be merged is to be found out anew. */
async function forgetStatus(
  work: Work,
  push: FollowedPush,
  { rows, byRef }: { rows: FollowedRow[]; byRef: Moves },
): Promise<void> {
  const ids = rows.filter((row) => movesOf(row, push, byRef).target).map(({ id }) => id);
  if (ids.length === 0) return;
  const text = `update merge_requests set merge_status = 'unchecked' where id = any($1) and merge_status <> 'unchecked'`;
  await sql(work.em, text, [ids]);
}
