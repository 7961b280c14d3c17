import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitOptions, runGit } from './git.ts';
import { removeTree } from './remove-tree.ts';

/**
 * Empties the directories of submodules: an earlier job may have left anything in them, and git cleans only around
 * them. Their repositories have gone already.
 */
export async function emptySubmodules(git: GitOptions): Promise<void> {
  const list = await lstat(join(git.directory, '.gitmodules')).catch(() => null);
  if (list === null) return;
  const listed = await runGit(['ls-files', '--stage', '-z'], git);
  for (const [, path] of listed.matchAll(/160000 [0-9a-f]+ \d\t([^\0]+)\0/g)) {
    const place = join(git.directory, path ?? '');
    await removeTree(place);
    await mkdir(place, { recursive: true });
  }
}

/** Brings the submodules that the commit names. */
export async function updateSubmodules(strategy: 'normal' | 'recursive', git: GitOptions): Promise<void> {
  const recursive = strategy === 'recursive' ? ['--recursive'] : [];
  await runGit(['submodule', 'sync', '--quiet', ...recursive], git);
  await runGit(['submodule', 'update', '--init', '--force', '--quiet', ...recursive], git);
}
