import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunOptions, runGit } from './run-git.ts';
import { trimReflogs } from './trim-reflogs.ts';

export interface TidyOptions {
  /** All of it together; what is done by then stays done. */
  timeLimitMs: number;
  /** For how long an object stays after it was first seen to be of no use. Two weeks unless told. */
  graceSeconds?: number;
  /** Somebody may still ask what the logs of refs say of a move that is not long ago: they stay as they are. */
  keepLogs?: boolean;
  signal?: AbortSignal | undefined;
}

export interface RepositorySize {
  /** Of all files of objects. Forks share files, and each counts them. */
  bytes: number;
  packs: number;
}

const week = 7 * 86_400;
/** One core, and little of its memory: requests go first. */
const modest = [['pack.threads', '1']] as const;

/**
 * Puts a repository in the order in which it is read fastest: few packs, refs in one file, an index of the commits.
 * Once a week it is packed anew as a whole, the logs of refs are shortened, and what nothing leads to any more goes
 * once it has been like that for the time of grace. Readers and pushes go on meanwhile, and may be in the middle of anything; being killed does no
 * harm.
 *
 * @throws GitError when git cannot read the repository, or the time is up.
 */
export async function tidyRepository(dir: string, options: TidyOptions): Promise<RepositorySize> {
  const end = Date.now() + options.timeLimitMs;
  const git: Git = async (attempted, args, answers = []) => {
    const timeoutMs = Math.max(1, end - Date.now());
    const call: RunOptions = { dir, args, attempted, answers, timeoutMs, signal: options.signal };
    return (await runGit({ ...call, config: modest, isBackground: true })).stdout.toString('utf8');
  };
  await git('pack refs', ['pack-refs', '--all', '--prune']);
  // Each pack that is left has at least twice the objects of all smaller ones, so that work is in proportion to
  // what is new. Loose objects are among it, also those that nothing leads to.
  await git('join packs', ['repack', '-q', '-d', '-l', '--geometric=2']);
  // Before anything goes: a commit in there counts as present.
  await git('index commits', [
    'commit-graph',
    'write',
    '--reachable',
    '--changed-paths',
    '--max-new-filters=50000',
    '--no-progress',
  ]);
  if (await isFullDue(dir)) {
    // Before the packs: what the lines led to may be of no use from now on.
    if (!options.keepLogs) await trimReflogs(dir, (args) => git('shorten a log', args, failures));
    await packAnew(dir, git, options.graceSeconds ?? 2 * week);
  }
  return sizeOf(await git('measure the repository', ['count-objects', '-v']));
}

type Git = (attempted: string, args: string[], answers?: readonly number[]) => Promise<string>;

/** Exit codes of a git that could not do what it was asked for one ref. */
const failures = [1, 128, 255];

async function packAnew(dir: string, git: Git, graceSeconds: number): Promise<void> {
  await renewPacks(dir);
  const expiry = `--cruft-expiration=${graceSeconds}.seconds.ago`;
  await git('pack all', ['repack', '-q', '-d', '-l', '-a', '-b', '--cruft', expiry]);
}

/** Only a pack of everything has a bitmap, which is as old as that pack is. */
async function isFullDue(dir: string): Promise<boolean> {
  const bitmaps = await packFiles(dir, (name) => name.endsWith('.bitmap'));
  const found = await Promise.all(bitmaps.map((path) => stat(path).catch(() => null)));
  const newest = Math.max(0, ...found.map((stats) => stats?.mtimeMs ?? 0));
  return Date.now() - newest > week * 1000;
}

/**
 * An object that nothing leads to counts as old as its pack is, however short a time ago something did, and a push
 * that is just under way may rely on it. Only from its second time on, in the pack of such objects, it has an age of
 * its own.
 */
async function renewPacks(dir: string): Promise<void> {
  const names = new Set(await packFiles(dir, () => true));
  const now = new Date();
  for (const path of names) {
    if (!path.endsWith('.pack') || names.has(path.replace(/pack$/, 'mtimes'))) continue;
    // One that is gone has been joined with others by now, and is as new as can be.
    await utimes(path, now, now).catch(() => undefined);
  }
}

async function packFiles(dir: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const folder = join(dir, 'objects', 'pack');
  return (await readdir(folder)).filter(isWanted).map((name) => join(folder, name));
}

function sizeOf(counts: string): RepositorySize {
  const found = new Map(
    [...counts.matchAll(/^([\w-]+): (\d+)$/gm)].map(([, key, value]) => [key, Number(value)]),
  );
  const kibibytes = ['size', 'size-pack', 'size-garbage'].map((key) => found.get(key) ?? 0);
  const bytes = kibibytes.reduce((sum, size) => sum + size, 0) * 1024;
  return { bytes, packs: found.get('packs') ?? 0 };
}
