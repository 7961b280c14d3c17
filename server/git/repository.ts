import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GitError } from './errors.ts';
import { checkRefName } from './ref-name.ts';
import { runGit } from './run-git.ts';

const abandonedAfterMs = 3_600_000;

/**
 * Makes an empty bare repository whose HEAD is `master`. Made aside and renamed, so that a crash never leaves
 * half of one; an existing repository is left as it is.
 */
export async function createRepository(dir: string): Promise<void> {
  if (await exists(join(dir, 'HEAD'))) return;
  await mkdir(dirname(dir), { recursive: true });
  const aside = asideName(dir, 'new');
  const args = [
    'init',
    '--quiet',
    '--bare',
    '--template=',
    '--object-format=sha1',
    '--initial-branch=master',
  ];
  try {
    await runGit({ args: [...args, '--', aside], attempted: 'create a repository' });
    for (const path of [join(aside, 'HEAD'), join(aside, 'config'), aside]) await sync(path);
    await renameOntoNothing(aside, dir);
    await sync(dirname(dir));
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  await sweepAside(dir, 'new');
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
  const args = ['symbolic-ref', 'HEAD', `refs/heads/${branch}`];
  await runGit({ dir, args, attempted: `set HEAD to ${branch}` });
}

/** Whether the repository has neither branch nor tag. */
export async function isEmpty(dir: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/heads', 'refs/tags'];
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

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
