import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const environment = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
};

/** A real repository with a working copy, that builds fetch from. */
export interface SourceRepository {
  directory: string;
  url: string;
  git(...args: string[]): Promise<string>;
  /** @returns the new commit. */
  commit(files: Record<string, string>): Promise<string>;
}

export async function sourceRepository(directory: string): Promise<SourceRepository> {
  await mkdir(directory, { recursive: true });
  const git = async (...args: string[]) => {
    const { stdout } = await execute('git', args, { cwd: directory, env: environment });
    return stdout.trim();
  };
  await git('init', '--quiet', '--initial-branch=main');
  return {
    directory,
    url: `file://${directory}`,
    git,
    async commit(files) {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(directory, path)), { recursive: true });
        await writeFile(join(directory, path), content);
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '--message=change');
      return git('rev-parse', 'HEAD');
    },
  };
}
