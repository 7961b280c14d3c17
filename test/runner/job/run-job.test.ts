import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import type { FileEntry } from '../../../runner/executor/executor.ts';
import { ExecutorError } from '../../../runner/executor/executor-error.ts';
import { createScriptedExecutor, hang, type Script } from '../../../runner/executor/scripted.ts';
import type { JobRequest } from '../../../runner/job/job.ts';
import type { Outcome } from '../../../runner/job/outcome.ts';
import { runJob } from '../../../runner/job/run-job.ts';
import type { BuildPayload } from '../../../shared/protocol/build.ts';
import { makePayload } from '../../support/build-payload.ts';
import { type FakeBuild, type FakeCiServer, partContent, reply } from '../../support/fake-ci-server.ts';
import { fakeApi, fakeCiServer, quickTrace } from '../../support/fake-ci-test.ts';
import { sourceRepository } from '../../support/source-repository.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Setup {
  server: FakeCiServer;
  build: FakeBuild;
  calls: string[];
  programs: string[];
  folder: string;
  shutdown: AbortController;
  run(): Promise<Outcome>;
  trace(): string;
}

async function setUp(
  t: ExecutionContext,
  script: Script = {},
  payload: Partial<BuildPayload> = {},
): Promise<Setup> {
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
    timing: { trace: quickTrace, stepRetry: 1, afterScriptLimit: 300 },
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
function readable(text: string): string {
  return text.replaceAll('\x1b', 'ESC').replaceAll('\r', 'CR');
}

function lastLine(text: string): string {
  const plain = readable(text).replaceAll(/section_\w+:\d+:\w+CR|ESC\[[\d;]*[mK]/g, '');
  return plain.trimEnd().split('\n').at(-1) ?? '';
}

function file(path: string, content: string): FileEntry {
  const stream = Readable.from([Buffer.from(content)], { objectMode: false });
  return { path, type: 'file', mode: 0o644, mtime: new Date(), size: content.length, content: stream };
}

async function* files(...list: [string, string][]): AsyncGenerator<FileEntry> {
  for (const [path, content] of list) yield file(path, content);
}

test('a build goes through its steps in order and is reported', async (t) => {
  const { run, calls, build, trace, server } = await setUp(t, {
    run: async ({ output }) => {
      await output(Buffer.from('hello from the job\n'));
      return { exitCode: 0 };
    },
  });
  t.deepEqual(await run(), { kind: 'success' });
  t.deepEqual(calls, ['prepare', 'importSources', 'run:script', 'cleanUp']);
  t.is(build.status, 'success');
  t.true(trace().includes('Running with hearth-runner 0 on box (runner-t)'));
  t.true(trace().includes('hello from the job\n'));
  t.regex(readable(trace()), /section_start:\d+:step_scriptCRESC\[0K/);
  t.regex(readable(trace()), /section_end:\d+:step_scriptCRESC\[0K/);
  t.is(lastLine(trace()), 'Job succeeded');
  const reports = server.requests('PUT', /builds/);
  t.is(reports.length, 1);
  t.false('trace' in JSON.parse(String(reports[0]?.body)));
});

test('the exit code of the script is in the last line', async (t) => {
  const { run, build, trace, calls } = await setUp(t, { run: async () => ({ exitCode: 7 }) });
  t.deepEqual(await run(), { kind: 'script_failed', exitCode: 7 });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: exit code 7');
  t.true(calls.includes('cleanUp'));
});

test('a script that was out of memory says so', async (t) => {
  const { run, trace } = await setUp(t, { run: async () => ({ exitCode: 137, outOfMemory: true }) });
  await run();
  t.is(lastLine(trace()), 'ERROR: Job failed: exit code 137 (out of memory)');
});

test('after_script runs after success and failure, and its result does not count', async (t) => {
  for (const exitCode of [0, 1]) {
    const { run, calls, programs } = await setUp(
      t,
      { run: async ({ kind }) => ({ exitCode: kind === 'script' ? exitCode : 1 }) },
      { options: { after_script: ['echo after'] } },
    );
    t.is((await run()).kind, exitCode === 0 ? 'success' : 'script_failed');
    t.true(calls.includes('run:after_script'));
    t.regex(programs[1] ?? '', exitCode === 0 ? /CI_JOB_STATUS='success'/ : /CI_JOB_STATUS='failed'/);
  }
});

test('an after_script that does not end is ended, and the result stands', async (t) => {
  const { run, trace } = await setUp(
    t,
    { run: async (script) => (script.kind === 'script' ? { exitCode: 0 } : hang(script)) },
    { options: { after_script: ['sleep 1000'] } },
  );
  t.is((await run()).kind, 'success');
  t.true(trace().includes('after_script was ended: it took too long'));
});

test('a build that takes too long is failed with its limit, without after_script', async (t) => {
  const { run, build, trace, calls } = await setUp(
    t,
    { run: hang },
    { timeout: 1, options: { after_script: ['true'] } },
  );
  t.deepEqual(await run(), { kind: 'timed_out', seconds: 1 });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: took longer than 1 seconds');
  t.false(calls.includes('run:after_script'));
  t.true(calls.includes('cleanUp'));
});

test('a cancel ends the script, and no state is reported', async (t) => {
  const { run, build, server, trace, calls } = await setUp(t, { run: hang });
  const running = run();
  await server.until(() => calls.includes('run:script'));
  build.status = 'canceled';
  t.deepEqual(await running, { kind: 'canceled', gone: false });
  t.is(server.requests('PUT', /builds/).length, 0);
  t.is(lastLine(trace()), 'ERROR: Job canceled');
  t.true(calls.includes('cleanUp'));
});

test('a build that the server does not know any more is ended', async (t) => {
  const { run, server, build, calls } = await setUp(t, { run: hang });
  const running = run();
  await server.until(() => calls.includes('run:script'));
  server.builds.delete(build.payload.id);
  t.deepEqual(await running, { kind: 'canceled', gone: true });
});

test('a runner that is stopped reports its builds as failed', async (t) => {
  const { run, server, build, shutdown, trace, calls } = await setUp(t, { run: hang });
  const running = run();
  await server.until(() => calls.includes('run:script'));
  shutdown.abort();
  t.deepEqual(await running, { kind: 'aborted' });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: aborted, the runner is shutting down');
});

test('preparing is tried three times', async (t) => {
  let tries = 0;
  const { run, trace } = await setUp(t, {
    prepare: async () => {
      tries += 1;
      throw new Error('engine is away');
    },
  });
  t.like(await run(), { kind: 'system_failure', during: 'prepare' });
  t.is(tries, 3);
  t.is(lastLine(trace()), 'ERROR: Job failed (system failure): engine is away');
});

test('a job that asks for the impossible is told so at once', async (t) => {
  let tries = 0;
  const { run, trace } = await setUp(t, {
    prepare: async () => {
      tries += 1;
      throw new ExecutorError('user', 'the image is not allowed');
    },
  });
  t.is((await run()).kind, 'impossible');
  t.is(tries, 1);
  t.is(lastLine(trace()), 'ERROR: Job failed: the image is not allowed');
});

test('an executor that dies in the script is a system failure, and is cleaned up', async (t) => {
  const { run, build, calls } = await setUp(t, { run: () => Promise.reject(new Error('attach failed')) });
  t.like(await run(), { kind: 'system_failure', during: 'script', message: 'attach failed' });
  t.is(build.status, 'failed');
  t.is(calls.at(-1), 'cleanUp');
});

test('a clean-up that fails does not change the result', async (t) => {
  const { run, build } = await setUp(t, { cleanUp: () => Promise.reject(new Error('no')) });
  t.is((await run()).kind, 'success');
  t.is(build.status, 'success');
});

test('sources that cannot be fetched fail the build before the script', async (t) => {
  const { run, calls, build } = await setUp(t, {}, { sha: 'b'.repeat(40) });
  t.like(await run(), { kind: 'system_failure', during: 'sources' });
  t.deepEqual(calls, ['prepare', 'cleanUp']);
  t.is(build.status, 'failed');
});

test('a marker does not erase output without a line end', async (t) => {
  const { run, trace } = await setUp(t, {
    run: async ({ output }) => {
      await output(Buffer.from('no newline'));
      return { exitCode: 0 };
    },
  });
  await run();
  t.true(trace().includes('no newline\nsection_end:'));
});

test('the final state is reported again until the server takes it', async (t) => {
  const { run, server, build } = await setUp(t);
  let refusals = 0;
  server.intercept = (request, response) => {
    if (request.method !== 'PUT' || refusals === 3) return false;
    refusals += 1;
    reply(response, 503);
    return true;
  };
  await run();
  t.is(build.status, 'success');
});

test('nothing of the build is left on disk but working copy and cache', async (t) => {
  const { run, folder } = await setUp(t);
  await run();
  await t.throwsAsync(access(join(folder, 'tmp')), { code: 'ENOENT' });
  t.deepEqual((await readdir(folder)).sort(), ['origin', 'work']);
});

test('secrets do not leave in the trace', async (t) => {
  const secrets = ['build-secret-1', 'runner-token-xyz', 'project-variable', 'dependency-token'];
  const { run, trace } = await setUp(
    t,
    {
      run: async ({ output }) => {
        await output(
          Buffer.from(`${secrets.join(' ')} ${Buffer.from('project-variable').toString('base64')}\n`),
        );
        return { exitCode: 0 };
      },
    },
    {
      token: 'build-secret-1',
      variables: [{ key: 'SECRET', value: 'project-variable', public: false }],
    },
  );
  await run();
  for (const secret of secrets.slice(0, 3)) t.false(trace().includes(secret), secret);
  t.true(trace().includes('[MASKED] [MASKED] [MASKED] dependency-token [MASKED]'));
});

/** Keeps the linter from taking shell syntax for a template. */
const brace = '{';

test('variables reach the script: those of the server over those of the runner, expanded', async (t) => {
  const { run, programs } = await setUp(
    t,
    {},
    {
      variables: [
        { key: 'CI_SERVER_NAME', value: 'Other', public: true },
        { key: 'GREETING', value: `hi $WHO of $${brace}CI_PROJECT_DIR} for $$5 $NOBODY.`, public: true },
        { key: 'WHO', value: 'Ann', public: true },
      ],
      ref: 'odd$WHO',
    },
  );
  await run();
  const program = programs[0] ?? '';
  t.true(program.includes("export GREETING='hi Ann of /builds/group/hello for $5 .'"));
  t.true(program.includes("export CI_SERVER_NAME='Other'"));
  t.true(program.includes("export FROM_CONFIG='yes'"));
  t.true(program.includes("export CI_COMMIT_REF_NAME='odd$WHO'"));
  t.true(program.includes("export CI_PROJECT_DIR='/builds/group/hello'"));
  t.true(program.includes("export CI_BUILDS_DIR='/builds'"));
  t.true(program.includes("export CI_CONCURRENT_PROJECT_ID='2'"));
});

test('image and services reach the executor expanded', async (t) => {
  let seen: unknown;
  const { run } = await setUp(
    t,
    {
      prepare: async ({ build, slotName }) => {
        seen = [build.options.image, build.options.services, slotName];
      },
    },
    {
      options: { image: 'ruby:$V', services: [`db:$${brace}V}`] },
      variables: [{ key: 'V', value: '2.1', public: true }],
    },
  );
  await run();
  t.deepEqual(seen, ['ruby:2.1', ['db:2.1'], 'runner-runner-t-project-5-concurrent-2']);
});

test('artifacts are uploaded with the expanded name and the time they are kept', async (t) => {
  const { run, server, build } = await setUp(
    t,
    { exportFiles: () => files(['out/a.txt', 'A'], ['other', 'no']) },
    { options: { artifacts: { paths: ['out'], name: '$CI_BUILD_NAME', expire_in: '7 days' } } },
  );
  t.is((await run()).kind, 'success');
  const [upload] = server.requests('POST', /artifacts/);
  t.is(upload?.path, `/builds/${build.payload.id}/artifacts?expire_in=7+days`);
  t.is(upload?.headers['transfer-encoding'], 'chunked');
  t.is(upload?.headers['build-token'], build.payload.token);
  t.true(upload?.body.includes('filename="test.zip"'));
  const zip = partContent(build.upload ?? Buffer.alloc(0));
  t.true(zip.includes('out/a.txt'));
  t.false(zip.includes('other'));
});

test('without a matching file nothing is uploaded, and that is said', async (t) => {
  const { run, server, trace } = await setUp(t, {}, { options: { artifacts: { paths: ['out'] } } });
  t.is((await run()).kind, 'success');
  t.is(server.requests('POST', /artifacts/).length, 0);
  t.true(trace().includes('No files to upload'));
});

test('untracked takes what the commit does not hold', async (t) => {
  const { run, build } = await setUp(
    t,
    { exportFiles: () => files(['a.txt', 'tracked'], ['new.txt', 'N'], ['.git/config', 'secret']) },
    { options: { artifacts: { untracked: true } } },
  );
  await run();
  const zip = partContent(build.upload ?? Buffer.alloc(0));
  t.true(zip.includes('new.txt'));
  t.false(zip.includes('a.txt'));
  t.false(zip.includes('.git'));
});

test('a failed upload fails a job that had succeeded', async (t) => {
  const { run, server, build, trace } = await setUp(
    t,
    { exportFiles: () => files(['out', 'A']) },
    { options: { artifacts: { paths: ['out'] } } },
  );
  server.intercept = (request, response) => {
    if (!request.path.includes('artifacts')) return false;
    reply(response, 413, { message: '413 Request Entity Too Large' });
    return true;
  };
  t.like(await run(), { kind: 'system_failure', during: 'upload' });
  t.is(build.status, 'failed');
  t.true(lastLine(trace()).includes('413'));
  t.is(server.requests('POST', /artifacts/).length, 1);
});

test('a failed upload does not hide the exit code of a failed job', async (t) => {
  const { run, server, trace } = await setUp(
    t,
    { exportFiles: () => files(['out', 'A']), run: async () => ({ exitCode: 4 }) },
    { options: { artifacts: { paths: ['out'], when: 'always' } } },
  );
  server.intercept = (request, response) => {
    if (!request.path.includes('artifacts')) return false;
    reply(response, 403);
    return true;
  };
  await run();
  t.is(lastLine(trace()), 'ERROR: Job failed: exit code 4');
});

async function dependency(t: ExecutionContext, script: Script, names?: string[]): Promise<Setup> {
  const { build: source, run } = await setUp(
    t,
    { exportFiles: () => files(['out/a.txt', 'A']) },
    { options: { artifacts: { paths: ['out'] } } },
  );
  await run();
  const other = {
    id: 77,
    token: 'other-token',
    name: 'compile',
    stage: 'build',
    ref: 'main',
    sha: 'a'.repeat(40),
    tag: false,
    status: 'success' as const,
    project_id: 5,
    project_name: 'hello',
    artifacts_file: { filename: 'artifacts.zip', size: 1 },
  };
  const setup = await setUp(t, script, {
    depends_on_builds: [other, { ...other, id: 78, name: 'none', artifacts_file: undefined }],
    options: names ? { dependencies: names } : {},
  });
  setup.server.archives.set(77, partContent(source.upload ?? Buffer.alloc(0)));
  return setup;
}

test('artifacts of earlier builds are there before the script', async (t) => {
  const imported: string[] = [];
  const { run, calls, server } = await dependency(t, {
    importFiles: async (entries) => {
      for await (const entry of entries) imported.push(entry.path);
    },
  });
  t.is((await run()).kind, 'success');
  t.deepEqual(imported, ['out/a.txt']);
  t.deepEqual(calls, ['prepare', 'importSources', 'importFiles', 'run:script', 'cleanUp']);
  t.is(server.requests('GET', /artifacts/)[0]?.headers['build-token'], 'other-token');
});

test('a job may take the artifacts of some builds only, or of none', async (t) => {
  for (const names of [[], ['another']]) {
    const { run, calls } = await dependency(t, {}, names);
    await run();
    t.false(calls.includes('importFiles'));
  }
});

test('artifacts that are gone fail the build at once', async (t) => {
  const { run, server, trace } = await dependency(t, {});
  server.archives.clear();
  t.like(await run(), { kind: 'system_failure', during: 'artifacts' });
  t.is(server.requests('GET', /artifacts/).length, 1);
  t.true(lastLine(trace()).includes('artifacts of compile (77)'));
});

test('a cache saved by one build is there for the next', async (t) => {
  const imported: string[] = [];
  const script: Script = {
    exportFiles: () => files(['node_modules/x', 'X']),
    importFiles: async (entries) => {
      for await (const entry of entries) imported.push(entry.path);
    },
  };
  const options = { cache: { key: '$CI_BUILD_REF_NAME', paths: ['node_modules'] } };
  const { run, trace, build } = await setUp(t, script, { options });
  await run();
  t.true(trace().includes('There is no cache main yet'));
  t.deepEqual(imported, []);
  build.status = 'running';
  await run();
  t.true(trace().includes('Restored cache main'));
  t.deepEqual(imported, ['node_modules/x']);
});

test('a cache that cannot be restored is a warning', async (t) => {
  const script: Script = {
    exportFiles: () => files(['x', 'X']),
    importFiles: () => Promise.reject(new Error('disk full')),
  };
  const { run, trace, build } = await setUp(t, script, { options: { cache: { paths: ['x'] } } });
  await run();
  build.status = 'running';
  t.is((await run()).kind, 'success');
  t.true(trace().includes('cannot be restored: disk full'));
});
