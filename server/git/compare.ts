import type { CatFile } from './cat-file.ts';
import type { Commit } from './commit.ts';
import { compareLimits, diffOf, emptyTree, type FileDiff } from './diff.ts';
import { GitTimeoutError } from './errors.ts';
import { mergeBase } from './history.ts';
import { readCommits } from './read-commits.ts';
import { runGit } from './run-git.ts';

export interface Comparison {
  /** Those that `to` has and `from` has not, oldest first. */
  commits: Commit[];
  /** What changed from the best common ancestor to `to`. */
  files: FileDiff[];
  /** Commits, files or their diffs are left out because there are too many, or because it took too long. */
  isIncomplete: boolean;
}

export interface ComparedCommits {
  dir: string;
  /** Full ids of commits. */
  from: string;
  to: string;
  signal?: AbortSignal | undefined;
}

/** The newest ones are kept. */
const mostCommits = 1000;

/** What merging `to` into `from` would bring in. */
export async function compareCommits(objects: CatFile, compared: ComparedCommits): Promise<Comparison> {
  const [diff, commits] = await Promise.all([
    inTime(() => diffFromBase(objects, compared), { files: [], isIncomplete: true }),
    inTime(() => newCommits(objects, compared), { commits: [], isIncomplete: true }),
  ]);
  return { ...diff, ...commits, isIncomplete: diff.isIncomplete || commits.isIncomplete };
}

async function inTime<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitTimeoutError) return otherwise;
    throw error;
  }
}

/** Histories that have nothing in common began with nothing. */
async function diffFromBase(objects: CatFile, { dir, from, to, signal }: ComparedCommits) {
  const { timeoutMs } = compareLimits;
  const base = await mergeBase(dir, [from, to], { timeoutMs, signal });
  if (base === to) return { files: [], isIncomplete: false };
  return diffOf(objects, { dir, from: base ?? emptyTree, to, signal }, compareLimits);
}

async function newCommits(objects: CatFile, { dir, from, to, signal }: ComparedCommits) {
  const { stdout } = await runGit({
    dir,
    args: ['rev-list', `--max-count=${mostCommits + 1}`, to, `^${from}`, '--'],
    attempted: `list the commits of ${from}..${to}`,
    timeoutMs: compareLimits.timeoutMs,
    signal,
  });
  const shas = stdout.toString('latin1').split('\n').slice(0, -1);
  const commits = await readCommits(objects, dir, shas.slice(0, mostCommits));
  return { commits: commits.reverse(), isIncomplete: shas.length > mostCommits };
}
