import { GitError } from './errors.ts';
import { mergeBase } from './history.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

/** What merging one commit into another would do. */
export type MergeOutcome =
  /** `treeId` is in the repository then, with all that it needs. */
  | { kind: 'clean'; treeId: string }
  /** Both sides changed the same in different ways. */
  | { kind: 'conflict' }
  /** The histories have nothing in common. */
  | { kind: 'unrelated' }
  /** `ours` has all commits of `theirs` already. */
  | { kind: 'contained' };

/** For one of the two steps; what takes longer is not merged here. */
const timeoutMs = 30_000;

/**
 * Merges commits as `git merge` would in a work tree, with the files that come out of it, but neither a commit nor a
 * ref. Settings and attributes of the repository do not change how. Both commits have to be there, by their full ids.
 *
 * @throws GitTimeoutError when it takes too long, GitError when git cannot read the commits.
 */
export async function mergeTrees(dir: string, ours: string, theirs: string): Promise<MergeOutcome> {
  const attempted = `merge ${theirs} into ${ours}`;
  if (!isSha(ours) || !isSha(theirs)) throw new GitError({ attempted, stderr: 'not an object id' });
  const base = await mergeBase(dir, [ours, theirs], { timeoutMs });
  if (base === null) return { kind: 'unrelated' };
  if (base === theirs) return { kind: 'contained' };
  const args = ['merge-tree', '--write-tree', '--no-messages', '--name-only', '-z', ours, theirs];
  const { code, stdout } = await runGit({ dir, args, attempted, answers: [1], timeoutMs });
  if (code === 1) return { kind: 'conflict' };
  const treeId = stdout.toString('latin1').replace(/\0$/, '');
  if (!isSha(treeId)) throw new GitError({ attempted, stderr: 'git named no tree' });
  return { kind: 'clean', treeId };
}
