import type { RefChange } from '../entities/push.ts';
import { GitTimeoutError } from '../git/errors.ts';
import { isNearAncestor } from '../git/history.ts';
import { checkRefName, zeroSha } from '../git/ref-name.ts';
import { keepAround } from '../git/refs.ts';
import { unreachableCommits } from '../git/unreachable.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/*
 * Builds can be repeated for as long as they are known, so that their commits must stay. While a branch or a tag
 * leads to a commit that is no work: a commit is kept for its own sake when the last of them leaves it, or when none
 * leads to it as its pipeline is made. Both sides hold the row of the project, so that the one that comes second
 * sees what the other has done.
 */

export interface Target {
  dir: string;
  /** Where the commit is expected: in full. */
  ref: string;
  sha: string;
}

/**
 * Keeps the commit of a pipeline unless the ref holds it at this moment.
 *
 * @param work inside the transaction that has made the pipeline, and so holds the row of the project.
 */
export async function keepTarget(work: Work, { dir, ref, sha }: Target): Promise<void> {
  const held = checkRefName(ref) ? await work.objects.readInfo(dir, `${ref}^{commit}`) : null;
  if (held?.sha !== sha) await keepAround(dir, sha);
}

/** Beyond so many commits at once nobody looks which of them have pipelines. */
const mostDropped = 10_000;

interface Dropping {
  projectId: number;
  dir: string;
  /** Moves of refs that have taken place. */
  changes: readonly RefChange[];
}

/**
 * Keeps what refs have left behind, if there are pipelines of it.
 *
 * @param work inside a transaction, which holds the row of the project from then on where there is something to keep.
 */
export async function keepDropped(work: Work, { projectId, dir, changes }: Dropping): Promise<void> {
  const left = await leftBehind(work, dir, changes);
  if (left.length === 0) return;
  const dropped = await droppedCommits(dir, left);
  if (dropped !== null && !(await haveCommitsPipelines(work, projectId, dropped))) return;
  await keepAround(dir, ...(dropped === null ? left : await tipsOf(work, dir, { left, dropped })));
}

/** So many moves are looked at one by one; git looks at more of them faster. */
const fewMoves = 10;

/** Where refs were that may have lost something by their move. */
async function leftBehind(work: Work, dir: string, changes: readonly RefChange[]): Promise<string[]> {
  const left: string[] = [];
  for (const { oldSha, newSha } of changes) {
    if (oldSha === zeroSha) continue;
    const move = { ancestor: oldSha, descendant: newSha };
    const isHarmless =
      newSha !== zeroSha && changes.length <= fewMoves && (await isNearAncestor(work.objects, dir, move));
    if (!isHarmless) left.push(oldSha);
  }
  return left;
}

/** @returns null for too many to look at. */
async function droppedCommits(dir: string, left: readonly string[]): Promise<string[] | null> {
  try {
    const dropped = await unreachableCommits(dir, left, { limit: mostDropped });
    return dropped.length < mostDropped ? dropped : null;
  } catch (error) {
    if (error instanceof GitTimeoutError) return null;
    throw error;
  }
}

async function haveCommitsPipelines(work: Work, projectId: number, shas: string[]): Promise<boolean> {
  if (shas.length === 0) return false;
  await sqlOne(work.em, 'select 1 from projects where id = $1 for no key update', [projectId]);
  const text = 'select 1 from pipelines where project_id = $1 and sha = any($2) limit 1';
  return (await sqlOne(work.em, text, [projectId, shas])) !== null;
}

/** Those of the left objects that are dropped themselves: all that is dropped came before one of them. */
async function tipsOf(
  work: Work,
  dir: string,
  { left, dropped }: { left: string[]; dropped: string[] },
): Promise<string[]> {
  const gone = new Set(dropped);
  const tips: string[] = [];
  for (const sha of left) {
    const commit = await work.objects.readInfo(dir, `${sha}^{commit}`);
    if (commit && gone.has(commit.sha)) tips.push(sha);
  }
  return tips;
}
