import { GitError } from './errors.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

/** A caller waits for it, and a long history with many branches may take longer than he would. */
const timeoutMs = 10_000;

/**
 * The first branch by name, short, whose history holds the commit; null when none does.
 *
 * @throws GitTimeoutError when it is not found in time.
 */
export async function firstBranchWith(
  dir: string,
  sha: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const attempted = `find a branch with ${sha}`;
  if (!isSha(sha)) throw new GitError({ attempted, stderr: 'not an object id' });
  const args = [
    'for-each-ref',
    `--contains=${sha}`,
    '--count=1',
    '--format=%(refname:lstrip=2)',
    'refs/heads',
  ];
  const { stdout } = await runGit({ dir, args, attempted, timeoutMs, signal });
  return stdout.toString('utf8').trimEnd() || null;
}
