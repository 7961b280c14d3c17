import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRepository } from '../../server/git/repository.ts';
import { environment, type Ran, tryGit as runGit } from '../support/git.ts';

/** Runs git as a client would; gives back whatever came out. */
export function tryGit(cwd: string, ...args: string[]): Promise<Ran> {
  return runGit(cwd, args);
}

/** The same, for what has to work. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const ran = await tryGit(cwd, ...args);
  if (ran.code !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`);
  return ran.stdout;
}

/** Feeds bytes to a git command and gives back what it prints. */
export function gitWithInput(cwd: string, args: string[], input: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('latin1');
    });
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`git ${args}`))));
    // A git that fails at once reads nothing, and says why by its end.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

export interface Bench {
  folder: string;
  /** An empty bare repository, made as the server makes them. */
  repository(): Promise<string>;
  /** A work tree with one commit of README on master. */
  workTree(): Promise<string>;
  /** A bare repository with one commit on master, and its id. */
  filled(): Promise<{ dir: string; sha: string; tree: string }>;
  clean(): Promise<void>;
}

export async function makeBench(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-git-'));
  let counter = 0;
  async function repository(): Promise<string> {
    counter += 1;
    const dir = join(folder, `bare-${counter}.git`);
    await createRepository(dir);
    return dir;
  }
  async function workTree(): Promise<string> {
    counter += 1;
    const dir = join(folder, `tree-${counter}`);
    await git(folder, 'init', '--quiet', '--initial-branch=master', dir);
    await commitFile(dir, { path: 'README', content: `Project ${counter}\n`, message: 'Start' });
    return dir;
  }
  async function filled() {
    const [dir, tree] = [await repository(), await workTree()];
    await git(tree, 'push', '--quiet', dir, 'master');
    return { dir, tree, sha: await git(tree, 'rev-parse', 'HEAD') };
  }
  const clean = () => rm(folder, { recursive: true, force: true });
  return { folder, repository, workTree, filled, clean };
}

/** Commits one file on the present branch of a work tree; gives back the commit's id. */
export async function commitFile(
  tree: string,
  { path, content, message }: { path: string; content: string; message: string },
): Promise<string> {
  const blob = (await gitWithInput(tree, ['hash-object', '-w', '--stdin'], content)).trim();
  await git(tree, 'update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
  await git(tree, 'commit', '--quiet', '--message', message);
  return git(tree, 'rev-parse', 'HEAD');
}
