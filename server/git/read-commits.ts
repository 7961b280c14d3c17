import type { CatFile } from './cat-file.ts';
import { type Commit, parseCommit } from './commit.ts';
import { ObjectTooLargeError } from './errors.ts';
import { spawnGit } from './run-git.ts';

/** Bytes of a commit that are held; a list has many of them. */
const largest = 256 * 1024;

/** Commits by their full ids, in the same order; those that are not there are left out. */
export async function readCommits(objects: CatFile, dir: string, shas: readonly string[]): Promise<Commit[]> {
  const commits = await Promise.all(shas.map((sha) => readShownCommit(objects, dir, sha)));
  return commits.filter((commit) => commit !== null);
}

/** A commit by its full id; of a message that goes on and on, the beginning. */
export async function readShownCommit(objects: CatFile, dir: string, sha: string): Promise<Commit | null> {
  try {
    return await objects.readCommit(dir, sha, largest);
  } catch (error) {
    if (!(error instanceof ObjectTooLargeError)) throw error;
    return parseCommit(sha, await readStart(dir, sha));
  }
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
