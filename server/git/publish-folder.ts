import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGit } from './run-git.ts';

export interface PublishRequest {
  /** Folder whose files become the one commit. */
  folder: string;
  branch: string;
  message: string;
  /** HTTP address of a repository. */
  url: string;
  user: string;
  password: string;
}

const identity = { name: 'Hearth', email: 'hearth@example.com' };

/** Commits the files of a folder and pushes them, as a user would. The folder itself is left alone. */
export async function publishFolder(request: PublishRequest): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), 'hearth-publish-'));
  const attempted = `publish ${request.folder}`;
  const git = (args: string[], config: [string, string][] = []) =>
    runGit({ args: ['-C', copy, ...args], attempted, identity, config });
  try {
    await cp(request.folder, copy, { recursive: true });
    await git(['init', '--quiet', `--initial-branch=${request.branch}`]);
    await git(['add', '--all']);
    await git(['commit', '--quiet', '-m', request.message]);
    const credentials = Buffer.from(`${request.user}:${request.password}`).toString('base64');
    const header: [string, string] = ['http.extraHeader', `Authorization: Basic ${credentials}`];
    await git(['push', '--quiet', request.url, `HEAD:refs/heads/${request.branch}`], [header]);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
