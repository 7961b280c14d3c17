import type { RefChange } from '../entities/push.ts';
import { GitError } from '../git/errors.ts';
import { broughtAmong } from '../git/history.ts';
import { zeroSha } from '../git/ref-name.ts';
import type { FollowedRow } from '../queries/followed-requests.ts';
import type { Work } from '../services.ts';

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

/** Moves of branches by their refs. */
export type Moves = ReadonlyMap<string, RefChange>;

/** The move of the branch that the request goes to, and the one of the branch that it comes from. */
export function movesOf(row: FollowedRow, { projectId }: FollowedPush, byRef: Moves) {
  const isTarget = row.project_id === projectId;
  const isSource = row.source_project_id === projectId;
  return {
    target: isTarget ? byRef.get(`refs/heads/${row.target_branch}`) : undefined,
    source: isSource ? byRef.get(`refs/heads/${row.source_branch}`) : undefined,
  };
}

/** Heads of merge requests that have come to their target branches, each as `ref sha`. */
export async function broughtHeads(
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
