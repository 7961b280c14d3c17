import { git, gitWithInput } from '../git/real-git.ts';

/** Id of an empty file; it need not be there to stand in a tree. */
export const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
/** A commit of some other repository. */
export const submodule = '1'.repeat(40);

/**
 * Writes a tree of any names, also such as no file system takes, into a repository.
 *
 * @param lines as `git ls-tree` prints them, one byte per character.
 * @returns its id.
 */
export async function writeTree(dir: string, lines: string[]): Promise<string> {
  const input = Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1');
  return (await gitWithInput(dir, ['mktree', '-z', '--missing'], input)).trim();
}

/** @returns the blob's id. */
export async function writeBlob(dir: string, content: string | Buffer): Promise<string> {
  return (await gitWithInput(dir, ['hash-object', '-w', '--stdin'], content)).trim();
}

/** Puts a new commit of a tree on top of a ref. @returns its id. */
export async function commitTree(dir: string, tree: string, ref = 'refs/heads/master'): Promise<string> {
  const held = await git(dir, 'for-each-ref', '--format=%(objectname)', ref);
  const parents = held === '' ? [] : ['-p', held];
  const sha = await git(dir, 'commit-tree', ...parents, '-m', 'Files', tree);
  await git(dir, 'update-ref', ref, sha);
  return sha;
}
