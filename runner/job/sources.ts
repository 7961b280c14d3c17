import { lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import {
  GitFault,
  type GitOptions,
  gitEnvironment,
  runGit,
  splitCredentials,
  tryGit,
  tryRemote,
} from './git.ts';
import { removeTree } from './remove-tree.ts';
import { type SourceSettings, sourceSettings } from './source-settings.ts';
import { emptySubmodules, updateSubmodules } from './submodules.ts';

export interface SourcesRequest {
  build: Pick<BuildPayload, 'sha' | 'ref' | 'tag' | 'repo_url' | 'allow_git_fetch'>;
  variables: BuildVariable[];
  /** Where the working copy of this slot is, or will be. */
  directory: string;
  /** What git may see of this host's environment. */
  environment: Record<string, string>;
  notice(text: string): Promise<void>;
  warn(text: string): void;
  signal: AbortSignal;
}

interface Fetch extends SourcesRequest {
  settings: SourceSettings;
}

/**
 * Brings the commit of the build into the working copy: detached, nothing untracked around it.
 *
 * @throws Error with a text for the trace; the signal's reason when it fires.
 */
export async function fetchSources(given: SourcesRequest): Promise<void> {
  const { directory, build } = given;
  const settings = sourceSettings(given);
  const { strategy } = settings;
  const request: Fetch = { ...given, settings };
  if (strategy === 'none') {
    await request.notice('Skipping the sources, as GIT_STRATEGY asks');
    await mkdir(directory, { recursive: true });
    return;
  }
  if (!/^[0-9a-f]{40}$/.test(build.sha)) throw new Error(`not a commit: ${build.sha}`);
  if (strategy === 'clone' || !(await isWorkingCopy(directory))) return clone(request);
  await request.notice('Fetching changes…');
  try {
    await update(request);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof GitFault && error.isOutage) throw error;
    await request.notice(`The working copy cannot be used again: ${(error as Error).message}`);
    await clone(request);
  }
}

async function clone(request: Fetch): Promise<void> {
  await request.notice('Cloning repository…');
  await removeTree(request.directory);
  await mkdir(join(request.directory, '.git'), { recursive: true });
  await update(request);
}

/** Works on an empty repository as on one that an earlier job has used. */
async function update(request: Fetch): Promise<void> {
  const { directory, build, signal } = request;
  const remote = splitCredentials(build.repo_url);
  const git: GitOptions = { directory, environment: gitEnvironment(request.environment, remote), signal };
  await resetRepository(directory);
  await fetchCommit(request, remote.url, git);
  await writeConfig(directory, build.repo_url);
  await checkOut(request, git);
}

async function isWorkingCopy(directory: string): Promise<boolean> {
  const found = await lstat(join(directory, '.git', 'objects')).catch(() => null);
  const parent = await lstat(join(directory, '.git')).catch(() => null);
  return found?.isDirectory() === true && parent?.isDirectory() === true;
}

/**
 * Drops everything in `.git` by which an earlier job could steer git on this host, and locks of a git that
 * was killed. Objects, refs and the index stay.
 */
async function resetRepository(directory: string): Promise<void> {
  const repository = join(directory, '.git');
  const steering = ['hooks', 'info', 'modules', 'config.worktree', 'commondir', 'worktrees', 'branches'];
  for (const name of steering) await rm(join(repository, name), { recursive: true, force: true });
  await rm(join(repository, 'objects', 'info', 'alternates'), { force: true });
  for (const name of await readdir(repository)) {
    if (name.endsWith('.lock')) await rm(join(repository, name), { recursive: true, force: true });
  }
  await writeConfig(directory, null);
  await makeRepository(repository);
}

/** What `git init` does, without the time that a process takes. HEAD names nothing: the checkout detaches it anyway. */
async function makeRepository(repository: string): Promise<void> {
  for (const name of ['objects', 'refs']) await mkdir(join(repository, name), { recursive: true });
  const head = join(repository, 'HEAD');
  await rm(head, { recursive: true, force: true });
  await writeFile(head, 'ref: refs/heads/master\n', { flag: 'wx' });
}

/** Written as a file, since the URL holds credentials that no command line should show. */
async function writeConfig(directory: string, repoUrl: string | null): Promise<void> {
  const quoted = (repoUrl ?? '').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  const remote = `[remote "origin"]\n\turl = "${quoted}"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
  const core = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n';
  const path = join(directory, '.git', 'config');
  await rm(path, { recursive: true, force: true });
  await writeFile(path, repoUrl === null ? core : core + remote, { mode: 0o600, flag: 'wx' });
}

/** All branches and tags, or with GIT_DEPTH only what the commit needs. */
async function fetchCommit(request: Fetch, url: string, git: GitOptions): Promise<void> {
  const { build, settings } = request;
  const { depth } = settings;
  const fetch = ['fetch', '--quiet', '--force', '--update-head-ok', ...settings.fetchFlags];
  const refspecs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  if (depth === 0) {
    const unshallow = (await isShallow(git)) ? ['--unshallow'] : [];
    await runGit([...fetch, '--prune', ...unshallow, '--', url, ...refspecs], git);
    if (await hasCommit(build.sha, git)) return;
  }
  const shallow = depth === 0 ? [] : ['--no-tags', `--depth=${depth}`];
  const byName = await tryRemote([...fetch, ...shallow, '--', url, build.sha, ...refOfBuild(build)], git);
  if (byName.exitCode === 0 && (await hasCommit(build.sha, git))) return;
  // The branch may be gone, or the server gives out refs only: either alone may still do.
  const bySha = await tryRemote([...fetch, ...shallow, '--', url, build.sha], git);
  if (!(await hasCommit(build.sha, git)))
    await tryRemote([...fetch, ...shallow, '--', url, ...refOfBuild(build)], git);
  if (await hasCommit(build.sha, git)) return;
  const hint = depth === 0 ? 'it may have been removed by a forced push' : `try without GIT_DEPTH=${depth}`;
  throw new Error(`commit ${build.sha} cannot be fetched; ${hint}\n${bySha.stderr.trim()}`);
}

function refOfBuild({ ref, tag }: SourcesRequest['build']): string[] {
  return [tag ? `+refs/tags/${ref}:refs/tags/${ref}` : `+refs/heads/${ref}:refs/remotes/origin/${ref}`];
}

async function isShallow(git: GitOptions): Promise<boolean> {
  return (await lstat(join(git.directory, '.git', 'shallow')).catch(() => null)) !== null;
}

async function hasCommit(sha: string, git: GitOptions): Promise<boolean> {
  // A small fetch brings the objects one by one; a look at the disk then saves a process.
  const object = join(git.directory, '.git', 'objects', sha.slice(0, 2), sha.slice(2));
  if ((await lstat(object).catch(() => null))?.isFile()) return true;
  return (await tryGit(['cat-file', '-e', `${sha}^{commit}`], git)).exitCode === 0;
}

async function checkOut({ build, settings, notice }: Fetch, git: GitOptions): Promise<void> {
  const { checksOut, cleanFlags, submodules } = settings;
  if (!checksOut) return notice('Skipping the checkout, as GIT_CHECKOUT asks');
  await notice(`Checking out ${build.sha.slice(0, 8)} as ${build.ref}…`);
  await runGit(['checkout', '--quiet', '--force', '--detach', build.sha, '--'], git);
  if (cleanFlags) await runGit(['clean', '--quiet', ...cleanFlags], git);
  if (cleanFlags || submodules !== 'none') await emptySubmodules(git);
  if (submodules === 'none') return;
  await notice(`Updating submodules (${submodules})…`);
  await updateSubmodules(submodules, git);
}

/**
 * Paths in the commit, for telling untracked files from others.
 */
export async function listTracked(request: SourcesRequest): Promise<Set<string>> {
  const environment = gitEnvironment(request.environment, { url: '', authorization: null });
  const options = { directory: request.directory, environment, signal: request.signal };
  const listed = await runGit(
    ['ls-tree', '-r', '-z', '--name-only', '--full-tree', request.build.sha],
    options,
  );
  return new Set(listed.split('\0').filter((path) => path !== ''));
}
