import type { CatFile } from './cat-file.ts';
import { type Commit, parseCommit } from './commit.ts';
import { GitError, ObjectTooLargeError } from './errors.ts';
import { Facts } from './facts.ts';
import { spawnGit } from './run-git.ts';

/** Bytes of a commit that are held; a list has many of them. */
const largest = 256 * 1024;

/** The same commits are asked for again and again, also after a push brought some more. */
const known = new Facts<Commit>({
  maxBytes: 32 * 1024 * 1024,
  weigh: ({ message, title }) => 1000 + 2 * (message.length + title.length),
});

/** Commits by their full ids, in the same order. Throws a GitError when one of them is not there. */
export async function readCommits(objects: CatFile, dir: string, shas: readonly string[]): Promise<Commit[]> {
  return Promise.all(shas.map((sha) => readKnownCommit(objects, dir, sha)));
}

/**
 * A commit that is known to be in the repository, by its full id; of a message that goes on and on, the beginning.
 * Throws a GitError when it is not there.
 */
export function readKnownCommit(objects: CatFile, dir: string, sha: string): Promise<Commit> {
  return known.find(sha, async () => {
    try {
      const commit = await objects.readCommit(dir, sha, largest);
      if (commit === null)
        throw new GitError({ attempted: `read ${sha}`, stderr: 'there is no such commit' });
      return commit;
    } catch (error) {
      if (!(error instanceof ObjectTooLargeError)) throw error;
      return parseCommit(sha, await readStart(dir, sha));
    }
  });
}

async function readStart(dir: string, sha: string): Promise<Buffer> {
  const git = spawnGit({ dir, args: ['cat-file', 'commit', sha] });
  git.child.stdin.end();
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of git.child.stdout as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size >= largest) break;
  }
  git.killNow();
  return Buffer.concat(pieces).subarray(0, largest);
}
