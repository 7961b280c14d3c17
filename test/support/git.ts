import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';

/** Whole environment of the client: nothing of the machine's own settings reaches it, and commits are the same every time. */
export const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada Lovelace',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '1464937902 +0530',
  GIT_COMMITTER_NAME: 'Grace Hopper',
  GIT_COMMITTER_EMAIL: 'grace@example.org',
  GIT_COMMITTER_DATE: '1464938000 -0330',
};

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs git as a client would; gives back whatever came out. */
export function tryGit(cwd: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...environment, ...env }, maxBuffer: 64 * 1024 * 1024 };
    execFile('git', args, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout: stdout.trim(), stderr });
    });
  });
}

/** A working copy of a client. */
export class WorkTree {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  try(...args: string[]): Promise<Ran> {
    return tryGit(this.dir, args);
  }

  async git(...args: string[]): Promise<string> {
    const ran = await this.try(...args);
    if (ran.code !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`);
    return ran.stdout;
  }

  /** Writes files, commits everything, and gives back the commit's id. */
  async commit(files: Record<string, string | Buffer> = {}, message = 'Change'): Promise<string> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.dir, path)), { recursive: true });
      await writeFile(join(this.dir, path), content);
    }
    await this.git('add', '--all');
    await this.git('commit', '--quiet', '--allow-empty', '--cleanup=verbatim', '--message', message);
    return this.head();
  }

  head(): Promise<string> {
    return this.git('rev-parse', 'HEAD');
  }
}

/** Makes working copies in a folder that goes when the tests of the file have ended. Call at the top of the file. */
export function withWorkTrees(): {
  /** A new repository on branch `master`, without a commit. */
  fresh(): Promise<WorkTree>;
  /** Clones with the given arguments and throws when that fails. */
  clone(url: string, ...args: string[]): Promise<WorkTree>;
  folder(): Promise<string>;
} {
  let root = '';
  test.before(async () => {
    root = await mkdtemp(join(tmpdir(), 'hearth-trees-'));
  });
  test.after.always(() => rm(root, { recursive: true, force: true }));
  const folder = () => mkdtemp(join(root, 'tree-'));
  return {
    folder,
    async fresh() {
      const tree = new WorkTree(await folder());
      await tree.git('init', '--quiet', '--initial-branch=master');
      return tree;
    },
    async clone(url, ...args) {
      const tree = new WorkTree(await folder());
      await tree.git('clone', '--quiet', ...args, url, '.');
      return tree;
    },
  };
}

/** Clone URL of a project with credentials in it. */
export function cloneUrl(
  app: { url: string },
  project: { fullPath: string },
  { user = 'x', password }: { user?: string; password: string },
): string {
  const url = new URL(`${app.url}/${project.fullPath}.git`);
  url.username = user;
  url.password = password;
  return url.href;
}

/** Feeds bytes to a git command and gives back what it prints. */
export function gitWithInput(cwd: string, args: string[], input: string | Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: environment, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 } as const;
    const child = execFile('git', args, options, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    // A command that reads nothing is judged by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** What a client sends of some revisions: a pack of all that they lead to, but for that of `^` ones. */
export function packOf(cwd: string, ...revisions: string[]): Promise<Buffer> {
  const args = ['pack-objects', '--stdout', '--revs', '--quiet'];
  return gitWithInput(cwd, args, revisions.map((revision) => `${revision}\n`).join(''));
}
