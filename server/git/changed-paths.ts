import { GitError } from './errors.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

/** Paths that a commit changed against its first parent; a file that moved was removed and added. */
export interface ChangedPaths {
  added: string[];
  modified: string[];
  removed: string[];
}

/** Bytes of all paths together. */
const limit = 1024 * 1024;

/** @throws GitError also where there are more paths than anybody would read. */
export async function changedPaths(dir: string, shas: string[]): Promise<Map<string, ChangedPaths>> {
  const attempted = 'list the changed paths of commits';
  if (!shas.every(isSha)) throw new GitError({ attempted, stderr: 'not an object id' });
  if (shas.length === 0) return new Map();
  const args = ['diff-tree', '--stdin', '-r', '--root', '--no-renames', '--name-status', '-z'];
  const { stdout } = await runGit({
    dir,
    args: [...args, '--diff-merges=first-parent'],
    input: `${shas.join('\n')}\n`,
    attempted,
    limit,
  });
  return readChanges(stdout.toString('utf8').split('\0'));
}

/** Each commit's id is followed by pairs of a letter and a path. */
function readChanges(words: string[]): Map<string, ChangedPaths> {
  const changes = new Map<string, ChangedPaths>();
  let current: ChangedPaths | null = null;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (isSha(word)) {
      current = { added: [], modified: [], removed: [] };
      changes.set(word, current);
    } else if (word !== '') {
      at += 1;
      current?.[word === 'A' ? 'added' : word === 'D' ? 'removed' : 'modified'].push(words[at] ?? '');
    }
  }
  return changes;
}
