import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GitError } from './errors.ts';
import { checkRefName } from './ref-name.ts';
import { runGit } from './run-git.ts';
import { sync } from './sync.ts';

const abandonedAfterMs = 3_600_000;

export interface Filling {
  /** Where it is made before it is put in its place; beside that unless told. */
  aside?: string;
  /** Puts content into the repository while nobody can see it. */
  fill?(aside: string): Promise<void>;
}

/**
 * Makes a bare repository, empty unless it is filled, whose HEAD is `master`. Made aside and renamed, so that a crash
 * never leaves half of one; an existing repository is left as it is.
 */
export async function createRepository(dir: string, { aside, fill }: Filling = {}): Promise<void> {
  if (await exists(join(dir, 'HEAD'))) return;
  await mkdir(dirname(dir), { recursive: true });
  const place = aside ?? asideName(dir, 'new');
  try {
    await initRepository(place);
    await fill?.(place);
    for (const path of [join(place, 'HEAD'), join(place, 'config'), place]) await sync(path);
    await renameOntoNothing(place, dir);
    await sync(dirname(dir));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
  await sweepAside(dir, 'new');
}

/** An empty bare repository, of which nothing is known to be on the disk yet. */
export async function initRepository(dir: string): Promise<void> {
  const args = [
    'init',
    '--quiet',
    '--bare',
    '--template=',
    '--object-format=sha1',
    '--initial-branch=master',
  ];
  await runGit({ args: [...args, '--', dir], attempted: 'create a repository' });
}

async function renameOntoNothing(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (cause) {
    // Another request made it first; theirs is as good as ours.
    if (await exists(join(to, 'HEAD'))) return;
    throw new GitError({ attempted: `put a new repository at ${to}`, cause });
  }
}

/** Deletes a repository. It is out of reach at once, whatever happens while its files go; twice does no harm. */
export async function removeRepository(dir: string): Promise<void> {
  const aside = asideName(dir, 'removed');
  try {
    await rename(dir, aside);
  } catch (cause) {
    if (await exists(dir)) throw new GitError({ attempted: `remove the repository ${dir}`, cause });
  }
  await rm(aside, { recursive: true, force: true });
  await sweepAside(dir, 'removed');
}

/** Points HEAD, what a clone checks out, at a branch given by its short name; it need not exist yet. */
export async function setHead(dir: string, branch: string): Promise<void> {
  if (!checkRefName(branch, 'short'))
    throw new GitError({ attempted: `set HEAD to ${JSON.stringify(branch)}` });
  const target = `refs/heads/${branch}`;
  // So it is in most repositories when their first branch comes, and a process costs more than a look.
  const present = await readFile(join(dir, 'HEAD'), 'utf8').catch(() => '');
  if (present === `ref: ${target}\n`) return;
  const args = ['symbolic-ref', 'HEAD', target];
  await runGit({ dir, args, attempted: `set HEAD to ${branch}` });
}

/** Whether the repository has no branch; tags do not count. */
export async function hasNoBranch(dir: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/heads'];
  const { stdout } = await runGit({ dir, args, attempted: 'look for branches' });
  return stdout.length === 0;
}

function asideName(dir: string, kind: 'new' | 'removed'): string {
  return `${dir}.${kind}-${randomBytes(8).toString('hex')}`;
}

/** What a crash left beside the repository. Fresh ones may belong to a request that is still running. */
async function sweepAside(dir: string, kind: 'new' | 'removed'): Promise<void> {
  const parent = dirname(dir);
  if (!(await exists(parent))) return;
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(dir)}.${kind}-`)) continue;
    const found = await stat(join(parent, name)).catch(() => null);
    if (found === null || Date.now() - found.mtimeMs < abandonedAfterMs) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
