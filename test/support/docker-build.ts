import { tmpdir } from 'node:os';
import type { ExecutionContext } from 'ava';
import type { z } from 'zod';
import {
  createDockerExecutor,
  type DockerExecutorOptions,
} from '../../runner/executor/docker/docker-executor.ts';
import { DockerOptions } from '../../runner/executor/docker-options.ts';
import type { JobEnvironment, PrepareRequest, RunResult } from '../../runner/executor/executor.ts';
import type { BuildOptions, BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import { testImage } from './docker.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface DockerBuildSetup {
  docker?: z.input<typeof DockerOptions> & Pick<DockerExecutorOptions, 'killGraceMs'>;
  options?: BuildOptions;
  variables?: BuildVariable[];
  signal?: AbortSignal;
  runnerId?: string;
  /** Whether it gets a network, of which an engine has few; unless told, when it has services. */
  hasNetwork?: boolean;
}

/** A build prepared in Docker, with what the executor told about it. */
export interface DockerBuild {
  id: number;
  environment: JobEnvironment;
  notices: string[];
  warnings: string[];
  /** Runs a script in the project directory and collects its output. */
  run(script: string, options?: RunOptions): Promise<RunResult & { output: string; bytes: Buffer }>;
}

interface RunOptions {
  kind?: 'script' | 'after_script';
  signal?: AbortSignal;
  /** Hears of the output as it comes. */
  onOutput?: (text: string) => void;
}

let counter = 0;

/** A build prepared with the test image; removed when the test ends. Nothing is pulled. */
export async function dockerBuild(t: ExecutionContext, setup: DockerBuildSetup = {}): Promise<DockerBuild> {
  const { killGraceMs, ...docker } = setup.docker ?? {};
  const { hasNetwork = Boolean(setup.options?.services ?? docker.services) } = setup;
  const network = hasNetwork ? {} : { network_mode: 'none' };
  const usual = { image: await testImage(), pull_policy: 'never', ...network };
  const options = DockerOptions.parse({ ...usual, ...docker });
  const executor = createDockerExecutor({ ...options, killGraceMs }, setup.runnerId ?? `test-${process.pid}`);
  t.teardown(() => executor.close());
  const notices: string[] = [];
  const warnings: string[] = [];
  const request = prepareRequest(setup, { notices, warnings });
  const environment = await executor.prepare(request);
  t.teardown(() => environment.cleanUp());
  await environment.importSources(await temporaryFolder(t), request.signal);
  return { id: request.build.id, environment, notices, warnings, run: runner(environment) };
}

/** What the worker would ask an executor for. */
export function prepareRequest(
  { options = {}, variables = [], signal = new AbortController().signal }: DockerBuildSetup,
  { notices, warnings }: Pick<DockerBuild, 'notices' | 'warnings'> = { notices: [], warnings: [] },
): PrepareRequest {
  counter += 1;
  const id = process.pid * 1000 + counter;
  return {
    build: buildPayload(id, options),
    hostProjectDir: tmpdir(),
    variables,
    slotName: `test-${id}`,
    notice: async (text) => void notices.push(text),
    warn: async (text) => void warnings.push(text),
    signal,
  };
}

function runner(environment: JobEnvironment): DockerBuild['run'] {
  return async (script, { kind = 'script', signal = new AbortController().signal, onOutput } = {}) => {
    const chunks: Buffer[] = [];
    const result = await environment.run({
      kind,
      script: `set -e\ncd ${environment.projectDir}\n${script}\n`,
      signal,
      output: async (chunk) => {
        chunks.push(chunk);
        onOutput?.(Buffer.concat(chunks).toString());
      },
    });
    const bytes = Buffer.concat(chunks);
    return { ...result, output: bytes.toString(), bytes };
  };
}

function buildPayload(id: number, options: BuildOptions): BuildPayload {
  return {
    id,
    project_id: 7,
    project_name: 'Tools / Hammer',
    token: 'token',
    status: 'running',
    name: 'job',
    stage: 'test',
    ref: 'main',
    tag: false,
    sha: 'a'.repeat(40),
    before_sha: '0'.repeat(40),
    repo_url: 'http://gitlab-ci-token:token@localhost/tools/hammer.git',
    commands: '',
    allow_git_fetch: true,
    timeout: 60,
    options,
    variables: [],
    depends_on_builds: [],
  };
}
