import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import type { SourcesRequest } from '../../runner/job/sources.ts';
import { type SourceRepository, sourceRepository } from './source-repository.ts';
import { temporaryFolder } from './temporary-folder.ts';

const execute = promisify(execFile);

/** A repository, and a directory that it is to be brought to. */
export interface SourcePlace {
  origin: SourceRepository;
  directory: string;
  request(
    sha: string,
    more?: Partial<SourcesRequest> & { variables?: never },
    variables?: Variables,
  ): SourcesRequest;
  notices: string[];
  warnings: string[];
}

type Variables = Record<string, string>;

export async function place(t: ExecutionContext): Promise<SourcePlace> {
  const folder = await temporaryFolder(t);
  const origin = await sourceRepository(join(folder, 'origin'));
  const directory = join(folder, 'builds', 'group', 'hello');
  const notices: string[] = [];
  const warnings: string[] = [];
  return {
    origin,
    directory,
    notices,
    warnings,
    request: (sha, more = {}, variables = {}) => ({
      build: { sha, ref: 'main', tag: false, repo_url: origin.url, allow_git_fetch: true },
      directory,
      environment: { PATH: process.env.PATH ?? '' },
      notice: async (text) => void notices.push(text),
      warn: (text) => void warnings.push(text),
      signal: new AbortController().signal,
      ...more,
      variables: Object.entries(variables).map(([key, value]) => ({ key, value, public: true })),
    }),
  };
}

/** What git says of a working copy, whoever owns it. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  return (await execute('git', ['-c', 'safe.directory=*', ...args], { cwd: directory })).stdout.trim();
}
