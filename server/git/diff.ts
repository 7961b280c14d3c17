import { bigFilesAmong } from './big-files.ts';
import type { CatFile } from './cat-file.ts';
import { DiffReader, type DiffSize, type FileDiff } from './diff-reader.ts';
import { GitError } from './errors.ts';
import { isSha } from './ref-name.ts';
import { type GitProcess, spawnGit } from './run-git.ts';

export type { FileDiff } from './diff-reader.ts';

/** The tree without files, which git knows in every repository. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export interface DiffLimits extends DiffSize {
  timeoutMs: number;
}

/** A single file's diff is of no use to a reader beyond this. */
const fileBytes = 100 * 1024;

/** One commit, as a page shows it. */
export const commitLimits: DiffLimits = {
  fileBytes,
  files: 100,
  lines: 5000,
  bytes: 32 * 1024 * 1024,
  timeoutMs: 30_000,
};

/** Everything between two commits, as far as it can be held and waited for. */
export const compareLimits: DiffLimits = {
  fileBytes,
  files: Number.POSITIVE_INFINITY,
  lines: Number.POSITIVE_INFINITY,
  bytes: 32 * 1024 * 1024,
  timeoutMs: 10_000,
};

export interface DiffRequest {
  dir: string;
  /** Full ids of commits or trees. */
  from: string;
  to: string;
  signal?: AbortSignal | undefined;
}

export interface Diff {
  files: FileDiff[];
  /** Files or their diffs are left out because there is too much in all, or because it took too long. */
  isIncomplete: boolean;
}

const options = [
  '-r',
  '-M',
  '--raw',
  '-p',
  '-z',
  '--unified=3',
  '--no-color',
  // Whatever a repository says of itself: nothing but git's own comparison runs.
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/**
 * What changed between two commits or trees, file by file in git's order, renamed files found.
 * Throws a GitError when one of them is not there, or when the signal fires.
 */
export async function diffOf(objects: CatFile, request: DiffRequest, limits: DiffLimits): Promise<Diff> {
  const { dir, from, to, signal } = request;
  const attempted = `compare ${from} with ${to}`;
  if (!isSha(from) || !isSha(to)) throw new GitError({ attempted, stderr: 'not an object id' });
  signal?.throwIfAborted();
  // Names are shown as they are, not as numbers of their bytes.
  const config = [['core.quotePath', 'false']] as const;
  const git = spawnGit({ dir, args: ['diff-tree', ...options, from, to, '--'], config });
  const reader = new DiffReader(limits);
  const { isLate, fault } = await readAll(git, { reader, signal, timeoutMs: limits.timeoutMs });
  const { code, failure } = await git.ended;
  const wasEnded = isLate || reader.isFull;
  if (fault !== undefined || (code !== 0 && !wasEnded)) {
    throw new GitError({ attempted, exitCode: code, stderr: git.stderr(), cause: fault ?? failure });
  }
  const big = await bigFilesAmong(objects, dir, { ids: reader.binaryIds(), signal });
  return { files: reader.files(big), isIncomplete: isLate || reader.isIncomplete };
}

interface Reading {
  reader: DiffReader;
  signal: AbortSignal | undefined;
  timeoutMs: number;
}

/** Ends git as soon as there is no use in its going on: it only reads, so nothing is left behind. */
async function readAll(git: GitProcess, { reader, signal, timeoutMs }: Reading) {
  let isLate = false;
  let fault: unknown;
  const stop = () => git.killNow();
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  const onAbort = () => {
    fault ??= signal?.reason;
    stop();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  const read = (step: () => void) => {
    if (fault !== undefined || isLate || reader.isFull) return;
    try {
      step();
    } catch (error) {
      fault = error;
    }
    if (fault !== undefined || reader.isFull) stop();
  };
  git.child.stdin.end();
  git.child.stdout.on('data', (chunk: Buffer) => read(() => reader.push(chunk)));
  await new Promise<void>((resolve) => git.child.stdout.once('close', () => resolve()));
  const { code } = await git.ended;
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
  if (code === 0) read(() => reader.end());
  return { isLate, fault };
}
