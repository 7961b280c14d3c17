import { readRefName } from '../../shared/ref-kind.ts';
import type { RefChange } from '../entities/push.ts';
import { GitError } from '../git/errors.ts';
import { broughtAmong, isAncestor } from '../git/history.ts';
import { zeroSha } from '../git/ref-name.ts';
import { lookUpRef } from '../git/refs.ts';
import { type FollowedRow, holdFollowed } from '../queries/followed-requests.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { markMerged, markMergedByHand } from './mark-merged.ts';
import { changeMergeRequestState } from './merge-request-changes.ts';
import { refreshHead } from './refresh-merge-request.ts';
import { writeSystemNotes } from './write-system-notes.ts';

/** A push with what it has done. */
export interface FollowedPush {
  pushId: number;
  projectId: number;
  /** Null for somebody who is no user any more. */
  userId: number | null;
  dir: string;
  /** Moves of refs that have taken place. */
  applied: readonly RefChange[];
}

/**
 * Brings merge requests up to date with a push: those whose commits came to the target are merged, those whose branch
 * is gone are closed, and those whose source moved have its commits. One statement where there are none.
 *
 * @param work inside the transaction that settles the push, before it holds the row of a project. Each move is followed
 * once, provided that its event is written in the same transaction.
 */
export async function followPush(work: Work, push: FollowedPush): Promise<void> {
  const moves = push.applied.filter(({ ref }) => readRefName(ref)?.isTag === false);
  if (moves.length === 0) return;
  const rows = await holdFollowed(work.em, {
    pushId: push.pushId,
    projectId: push.projectId,
    refs: moves.map(({ ref }) => ref),
    made: moves.filter(({ oldSha }) => oldSha === zeroSha).map(({ ref }) => ref),
    merged: moves.flatMap(({ merge }) => (merge ? [merge.id] : [])),
  });
  if (rows.length === 0) return;
  const byRef = new Map(moves.map((move) => [move.ref, move]));
  const brought = await broughtHeads(work, push, { rows, byRef });
  const kept: FollowedRow[] = [];
  for (const row of rows) {
    const isOver = await followRow(work, { push, byRef, brought, row });
    if (!isOver) kept.push(row);
  }
  await forgetStatus(work, push, { rows: kept, byRef });
}

type Moves = ReadonlyMap<string, RefChange>;

interface OneRow {
  push: FollowedPush;
  byRef: Moves;
  /** Heads that have come to the target branches of their requests. */
  brought: ReadonlySet<string>;
  row: FollowedRow;
}

/** The move of the branch that the request goes to, and the one of the branch that it comes from. */
function movesOf(row: FollowedRow, { projectId }: FollowedPush, byRef: Moves) {
  const isTarget = row.project_id === projectId;
  const isSource = row.source_project_id === projectId;
  return {
    target: isTarget ? byRef.get(`refs/heads/${row.target_branch}`) : undefined,
    source: isSource ? byRef.get(`refs/heads/${row.source_branch}`) : undefined,
  };
}

/** @returns whether the request is merged or closed now. */
async function followRow(work: Work, { push, byRef, brought, row }: OneRow): Promise<boolean> {
  const userId = push.userId ?? row.author_id;
  const merging = [...byRef.values()].find(({ merge }) => merge?.id === row.id);
  if (merging?.merge) {
    const { newSha: commitSha, oldSha: ontoSha, merge } = merging;
    await markMerged(work, row, { ...merge, userId, commitSha, ontoSha });
    return true;
  }
  const { target, source } = movesOf(row, push, byRef);
  if (row.state === 'closed') {
    const isRestored = source?.oldSha === zeroSha && source.newSha !== zeroSha;
    if (isRestored)
      await noteBranch(work, row, { userId, text: `Restored source branch \`${row.source_branch}\`` });
    return true;
  }
  if (target && row.head_sha !== null && brought.has(`${target.ref} ${row.head_sha}`)) {
    await markMergedByHand(work, row, userId);
    return true;
  }
  if (source?.newSha === zeroSha) return endWithoutSource(work, row, userId);
  if (target?.newSha === zeroSha) {
    await changeMergeRequestState(work, { mergeRequest: row, state: 'closed', userId });
    return true;
  }
  if (source) await refresh(work, row, userId);
  return false;
}

async function endWithoutSource(work: Work, row: FollowedRow, userId: number): Promise<true> {
  const text = `Deleted source branch \`${row.source_branch}\``;
  await noteBranch(work, row, { userId, text });
  if (await isInTarget(work, row)) await markMergedByHand(work, row, userId);
  else await changeMergeRequestState(work, { mergeRequest: row, state: 'closed', userId });
  return true;
}

/** Whether the target has all commits of the request, of which there are some. */
async function isInTarget(work: Work, { head_sha, base_sha, ...row }: FollowedRow): Promise<boolean> {
  if (head_sha === null || head_sha === base_sha) return false;
  const dir = repositoryOf(work, { id: row.project_id });
  const target = await lookUpRef(work.objects, dir, `refs/heads/${row.target_branch}`);
  return target !== null && isAncestor(dir, { ancestor: head_sha, descendant: target });
}

async function noteBranch(
  work: Work,
  { id, project_id: projectId }: FollowedRow,
  { userId: authorId, text }: { userId: number; text: string },
): Promise<void> {
  const noteable = { type: 'MergeRequest', id } as const;
  await writeSystemNotes(work, { projectId, authorId, noteable, bodies: [text] });
}

/** A history that cannot be brought over must not keep the push from its pipeline. */
async function refresh(work: Work, row: FollowedRow, userId: number): Promise<void> {
  try {
    await refreshHead(work, row.id, userId);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, mergeRequest: row.id }, 'a merge request is behind its source branch');
  }
}

/** `ref sha` of the heads that have come to target branches. */
async function broughtHeads(
  work: Work,
  push: FollowedPush,
  { rows, byRef }: { rows: FollowedRow[]; byRef: Moves },
): Promise<Set<string>> {
  const wanted = new Map<RefChange, Set<string>>();
  for (const row of rows) {
    const { target } = movesOf(row, push, byRef);
    if (!target || target.newSha === zeroSha || row.head_sha === null || row.state === 'closed') continue;
    wanted.set(target, (wanted.get(target) ?? new Set()).add(row.head_sha));
  }
  const brought = new Set<string>();
  for (const [{ ref, oldSha, newSha }, shas] of wanted) {
    try {
      const found = await broughtAmong(push.dir, { oldSha, newSha, wanted: shas });
      for (const sha of found) brought.add(`${ref} ${sha}`);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      work.log.warn(
        { err: error, project: push.projectId, push: push.pushId },
        'merges by hand not looked for',
      );
    }
  }
  return brought;
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
