import { GitError } from './errors.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

/** So many ids fit on any command line. */
const atOnce = 1000;
const timeoutMs = 20_000;

/**
 * Commits to which no branch, no tag and no kept commit leads any more, among the given objects and all that came
 * before them. Objects that are not there are passed over.
 *
 * @param limit so many are looked for at most; as many or fewer are told.
 * @throws GitTimeoutError when it takes too long.
 */
export async function unreachableCommits(
  dir: string,
  shas: readonly string[],
  { limit }: { limit: number },
): Promise<string[]> {
  const attempted = 'look for commits that nothing leads to';
  if (!shas.every(isSha)) throw new GitError({ attempted, stderr: 'not an object id' });
  const found = new Set<string>();
  for (let start = 0; start < shas.length && found.size < limit; start += atOnce) {
    const from = shas.slice(start, start + atOnce);
    const roots = ['--not', '--branches', '--tags', '--glob=refs/keep-around'];
    const args = [
      'rev-list',
      '--ignore-missing',
      `--max-count=${Math.trunc(limit)}`,
      ...from,
      ...roots,
      '--',
    ];
    const { stdout } = await runGit({ dir, args, attempted, timeoutMs });
    for (const sha of stdout.toString('latin1').split('\n').filter(isSha)) found.add(sha);
  }
  return [...found].slice(0, limit);
}
