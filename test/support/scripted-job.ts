import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createScriptedExecutor, type Script } from '../../runner/executor/scripted.ts';
import type { JobRequest, JobTiming } from '../../runner/job/job.ts';
import type { Outcome } from '../../runner/job/outcome.ts';
import { runJob } from '../../runner/job/run-job.ts';
import type { BuildPayload } from '../../shared/protocol/build.ts';
import { makePayload } from './build-payload.ts';
import type { FakeBuild, FakeCiServer } from './fake-ci-server.ts';
import { fakeApi, fakeCiServer, quickTrace } from './fake-ci-test.ts';
import { sourceRepository } from './source-repository.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface ScriptedJob {
  server: FakeCiServer;
  build: FakeBuild;
  calls: string[];
  programs: string[];
  folder: string;
  shutdown: AbortController;
  run(): Promise<Outcome>;
  trace(): string;
}

export const quickTiming: JobTiming = { trace: quickTrace, stepRetry: 1, afterScriptLimit: 300 };

/** A build on a scripted executor, with a server that it is reported to and a repository that it comes from. */
export async function scriptedJob(
  t: ExecutionContext,
  script: Script = {},
  payload: Partial<BuildPayload> = {},
  settings: Partial<Pick<JobRequest, 'outputLimit' | 'timing'>> = {},
): Promise<ScriptedJob> {
  const server = await fakeCiServer(t);
  const folder = await temporaryFolder(t);
  const origin = await sourceRepository(join(folder, 'origin'));
  const sha = await origin.commit({ 'a.txt': 'a' });
  const build = server.add(makePayload({ sha, repo_url: origin.url, ...payload }));
  const executor = createScriptedExecutor(script);
  const shutdown = new AbortController();
  const request: JobRequest = {
    build: build.payload,
    executor,
    api: fakeApi(server, build.payload),
    runner: {
      name: 'box',
      token: 'runner-token-xyz',
      shortToken: 'runner-t',
      version: '0',
      architecture: 'x64',
      slot: 0,
      projectSlot: 2,
      environment: { FROM_CONFIG: 'yes' },
    },
    directories: {
      project: join(folder, 'work'),
      cache: join(folder, 'cache'),
      temporary: join(folder, 'tmp'),
    },
    hostEnvironment: { PATH: process.env.PATH ?? '' },
    outputLimit: 1e6,
    shutdown: shutdown.signal,
    log: { info: () => {}, warn: () => {} },
    timing: quickTiming,
    ...settings,
  };
  return {
    server,
    build,
    calls: executor.calls,
    programs: executor.programs,
    folder,
    shutdown,
    run: () => runJob(request),
    trace: () => build.trace.toString(),
  };
}

/** Without control characters, so that patterns can be written for it. */
export function readable(text: string): string {
  return text.replaceAll('\x1b', 'ESC').replaceAll('\r', 'CR');
}

export function lastLine(text: string): string {
  const plain = readable(text).replaceAll(/section_\w+:\d+:\w+CR|ESC\[[\d;]*[mK]/g, '');
  return plain.trimEnd().split('\n').at(-1) ?? '';
}
