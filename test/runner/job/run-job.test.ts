import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { ExecutorError } from '../../../runner/executor/executor-error.ts';
import { hang } from '../../../runner/executor/scripted.ts';
import { readLastReport } from '../../../runner/job/last-report.ts';
import { reply } from '../../support/fake-ci-server.ts';
import { lastLine, quickTiming, readable, scriptedJob } from '../../support/scripted-job.ts';

test('a build goes through its steps in order and is reported', async (t) => {
  const { run, calls, build, trace, server } = await scriptedJob(t, {
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
  const { run, build, trace, calls } = await scriptedJob(t, { run: async () => ({ exitCode: 7 }) });
  t.deepEqual(await run(), { kind: 'script_failed', exitCode: 7 });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: exit code 7');
  t.true(calls.includes('cleanUp'));
});

test('a script that was out of memory says so', async (t) => {
  const { run, trace } = await scriptedJob(t, { run: async () => ({ exitCode: 137, outOfMemory: true }) });
  await run();
  t.is(lastLine(trace()), 'ERROR: Job failed: exit code 137 (out of memory)');
});

test('a build that takes too long is failed with its limit, without after_script', async (t) => {
  const { run, build, trace, calls } = await scriptedJob(
    t,
    { run: hang },
    { timeout: 1, options: { after_script: ['true'] } },
  );
  t.deepEqual(await run(), { kind: 'timed_out', seconds: 1 });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: execution took longer than 1 seconds');
  t.false(calls.includes('run:after_script'));
  t.true(calls.includes('cleanUp'));
});

test('a cancel ends the script, and no state is reported', async (t) => {
  const { run, build, server, trace, calls } = await scriptedJob(t, { run: hang });
  const running = run();
  await server.until(() => calls.includes('run:script'));
  build.status = 'canceled';
  t.deepEqual(await running, { kind: 'canceled', gone: false });
  t.is(server.requests('PUT', /builds/).length, 0);
  t.is(lastLine(trace()), 'ERROR: Job canceled');
  t.true(calls.includes('cleanUp'));
});

test('a build that the server does not know any more is ended', async (t) => {
  const { run, server, build, calls } = await scriptedJob(t, { run: hang });
  const running = run();
  await server.until(() => calls.includes('run:script'));
  server.builds.delete(build.payload.id);
  t.deepEqual(await running, { kind: 'canceled', gone: true });
});

test('a runner that is stopped reports its builds as failed', async (t) => {
  const { run, server, build, shutdown, trace, calls } = await scriptedJob(t, { run: hang });
  const running = run();
  await server.until(() => calls.includes('run:script'));
  shutdown.abort();
  t.deepEqual(await running, { kind: 'aborted' });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: aborted, the runner is shutting down');
});

test('preparing is tried three times', async (t) => {
  let tries = 0;
  const { run, trace } = await scriptedJob(t, {
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
  const { run, trace } = await scriptedJob(t, {
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
  const { run, build, calls } = await scriptedJob(t, {
    run: () => Promise.reject(new Error('attach failed')),
  });
  t.like(await run(), { kind: 'system_failure', during: 'script', message: 'attach failed' });
  t.is(build.status, 'failed');
  t.is(calls.at(-1), 'cleanUp');
});

test('a clean-up that fails does not change the result', async (t) => {
  const { run, build } = await scriptedJob(t, { cleanUp: () => Promise.reject(new Error('no')) });
  t.is((await run()).kind, 'success');
  t.is(build.status, 'success');
});

test('sources that cannot be fetched fail the build before the script', async (t) => {
  const { run, calls, build } = await scriptedJob(t, {}, { sha: 'b'.repeat(40) });
  t.like(await run(), { kind: 'system_failure', during: 'sources' });
  t.deepEqual(calls, ['prepare', 'cleanUp']);
  t.is(build.status, 'failed');
});

for (const [value, tries] of [
  ['3', 3],
  ['1', 1],
  ['many', 1],
] as const) {
  test(`GET_SOURCES_ATTEMPTS=${value} tries ${tries} times`, async (t) => {
    const variables = [{ key: 'GET_SOURCES_ATTEMPTS', value, public: true }];
    const { run, trace } = await scriptedJob(t, {}, { sha: 'b'.repeat(40), variables });
    t.like(await run(), { kind: 'system_failure', during: 'sources' });
    t.is(trace().split('trying again').length, tries);
    const warning = 'GET_SOURCES_ATTEMPTS must be a whole number from 1 to 10, not "many"; 1 is taken';
    t.is(trace().includes(warning), value === 'many');
  });
}

test('a variable that the sources cannot be fetched by is the fault of the job, tried once', async (t) => {
  const variables = [
    { key: 'GIT_STRATEGY', value: 'copy', public: true },
    { key: 'GET_SOURCES_ATTEMPTS', value: '3', public: true },
  ];
  const { run, trace } = await scriptedJob(t, {}, { variables });
  t.is((await run()).kind, 'impossible');
  t.is(lastLine(trace()), 'ERROR: Job failed: GIT_STRATEGY must be clone, fetch or none, not "copy"');
  t.false(trace().includes('trying again'));
});

test('a marker does not erase output without a line end', async (t) => {
  const { run, trace } = await scriptedJob(t, {
    run: async ({ output }) => {
      await output(Buffer.from('no newline'));
      return { exitCode: 0 };
    },
  });
  await run();
  t.true(trace().includes('no newline\nsection_end:'));
});

test('the final state is reported again until the server takes it', async (t) => {
  const { run, server, build } = await scriptedJob(t);
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
  const { run, folder } = await scriptedJob(t);
  await run();
  await t.throwsAsync(access(join(folder, 'tmp')), { code: 'ENOENT' });
  t.deepEqual((await readdir(folder)).sort(), ['origin', 'work']);
});

test('a report that the server never took is kept', async (t) => {
  const timing = { ...quickTiming, trace: { ...quickTiming.trace, giveUp: 20 } };
  const { run, server, folder } = await scriptedJob(t, {}, {}, { timing });
  server.intercept = (request, response) => {
    if (request.method !== 'PUT') return false;
    reply(response, 503);
    return true;
  };
  await run();
  const { state, trace } = await readLastReport(join(folder, 'tmp'));
  t.is(state, 'success');
  t.is(lastLine(trace), 'Job succeeded');
});

test('secrets do not leave in the trace', async (t) => {
  const secrets = ['build-secret-1', 'runner-token-xyz', 'project-variable', 'dependency-token'];
  const { run, trace } = await scriptedJob(
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
  const { run, programs } = await scriptedJob(
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
  const { run } = await scriptedJob(
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
