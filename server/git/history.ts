import type { CatFile } from './cat-file.ts';
import type { Commit } from './commit.ts';
import { GitError, ObjectTooLargeError } from './errors.ts';
import { isSha, zeroSha } from './ref-name.ts';
import { type RunOptions, runGit } from './run-git.ts';

export interface CommitRange {
  dir: string;
  /** Its commits and those before them are left out; 40 zeros leave out nothing. */
  oldSha: string;
  newSha: string;
  /** A commit with whose history the same is done. */
  alsoWithout?: string | undefined;
  /** How many commits to read at most. */
  limit: number;
  /** Folder with objects that the repository may not have taken over yet. */
  quarantine?: string | undefined;
}

/** What a move from one commit to another brings in. */
export interface Brought {
  total: number;
  /** The newest of them, newest first. */
  commits: Commit[];
}

/** The same by their ids. */
export interface CommitList {
  total: number;
  /** Ids of the newest of them, newest first. */
  newest: string[];
}

/** What a move from one commit to another brings in: the newest commits, newest first, and their number. */
export async function commitsBetween(objects: CatFile, range: CommitRange): Promise<Brought> {
  return readNewest(objects, range.dir, await listBetween(range));
}

/** The newest commits of a list. One that cannot be found is left out. */
export async function readNewest(
  objects: CatFile,
  dir: string,
  { total, newest }: CommitList,
): Promise<Brought> {
  const commits = await Promise.all(newest.map((sha) => objects.readCommit(dir, sha)));
  return { total, commits: commits.filter((found) => found !== null) };
}

/** As `commitsBetween`, but reads none of them. */
export async function listBetween(range: CommitRange): Promise<CommitList> {
  const { dir, oldSha, newSha, alsoWithout = zeroSha, limit, quarantine: alternate } = range;
  const attempted = `list the commits of ${oldSha}..${newSha}`;
  checkShas(attempted, [oldSha, newSha, alsoWithout]);
  const without = [oldSha, alsoWithout].filter((sha) => sha !== zeroSha);
  const revisions = [newSha, ...without.map((sha) => `^${sha}`)];
  const start = { text: '', bytes: 0 };
  const startSize = Math.trunc(limit) * lineSize;
  const take = (piece: Buffer) => {
    if (start.bytes < startSize) start.text += piece.toString('latin1', 0, startSize - start.bytes);
    start.bytes += piece.length;
  };
  await runGit({ dir, args: ['rev-list', ...revisions, '--'], attempted, take, alternate });
  return { total: start.bytes / lineSize, newest: start.text.split('\n').filter(isSha) };
}

/** Bytes of an id and the end of its line. */
const lineSize = 41;

/** The best common ancestor of two commits, or null when their histories have nothing in common. */
export async function mergeBase(
  dir: string,
  [one, other]: [string, string],
  bounds: Pick<RunOptions, 'timeoutMs' | 'signal'> = {},
): Promise<string | null> {
  const attempted = `find the merge base of ${one} and ${other}`;
  checkShas(attempted, [one, other]);
  const { stdout } = await runGit({
    dir,
    args: ['merge-base', one, other],
    attempted,
    answers: [1],
    ...bounds,
  });
  return stdout.toString('latin1').trim() || null;
}

/** Whether `ancestor` is the descendant itself or in its history: if not, a move between them is a forced one. */
export async function isAncestor(
  dir: string,
  { ancestor, descendant }: { ancestor: string; descendant: string },
): Promise<boolean> {
  const attempted = `compare ${ancestor} with ${descendant}`;
  checkShas(attempted, [ancestor, descendant]);
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  const { code } = await runGit({ dir, args, attempted, answers: [1] });
  return code === 0;
}

/** Commits that are looked at one by one; most pushes bring fewer. */
const nearby = 32;

/**
 * Whether one commit is found shortly before another. Costs no process, unlike `isAncestor`; false says nothing.
 */
export async function isNearAncestor(
  objects: CatFile,
  dir: string,
  { ancestor, descendant }: { ancestor: string; descendant: string },
): Promise<boolean> {
  const seen = new Set<string>([descendant]);
  for (const sha of seen) {
    if (sha === ancestor) return true;
    if (seen.size > nearby) return false;
    const commit = await objects.readCommit(dir, sha).catch(tooLargeIsNothing);
    for (const parent of commit?.parentIds ?? []) seen.add(parent);
  }
  return false;
}

function tooLargeIsNothing(error: unknown): null {
  if (error instanceof ObjectTooLargeError) return null;
  throw error;
}

/** Beyond so many commits, or so much time, nobody looks what a move brings in. */
const mostBrought = 100_000;
const broughtTimeoutMs = 20_000;

/**
 * Which of the wanted commits a move from one commit to another brings in. Of a move that brings in very many, those
 * that git comes to first.
 *
 * @param oldSha 40 zeros: there was nothing before.
 * @throws GitTimeoutError when it takes too long.
 */
export async function broughtAmong(
  dir: string,
  { oldSha, newSha, wanted }: { oldSha: string; newSha: string; wanted: ReadonlySet<string> },
): Promise<Set<string>> {
  const attempted = `look what ${oldSha}..${newSha} brings in`;
  checkShas(attempted, [oldSha, newSha]);
  const revisions = oldSha === zeroSha ? [newSha] : [newSha, `^${oldSha}`];
  const args = ['rev-list', `--max-count=${mostBrought}`, ...revisions, '--'];
  const { stdout } = await runGit({ dir, args, attempted, timeoutMs: broughtTimeoutMs });
  return new Set(
    stdout
      .toString('latin1')
      .split('\n')
      .filter((sha) => wanted.has(sha)),
  );
}

function checkShas(attempted: string, shas: string[]): void {
  if (!shas.every(isSha)) throw new GitError({ attempted, stderr: 'not an object id' });
}
