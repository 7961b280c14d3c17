import test, { type ExecutionContext } from 'ava';
import type { PrepareRequest, RunResult, ScriptRun } from '../../../runner/executor/executor.ts';
import { hang } from '../../../runner/executor/scripted.ts';
import type { BuildPayload } from '../../../shared/protocol/build.ts';
import { lastLine, quickTiming, type ScriptedJob, scriptedJob } from '../../support/scripted-job.ts';

type Run = (run: ScriptRun) => Promise<RunResult>;

interface Plan {
  script?: Run;
  afterScript?: Run;
  variables?: Record<string, string>;
  options?: BuildPayload['options'];
}

const succeed: Run = async () => ({ exitCode: 0 });

/** A job with an after_script that has all the time it wants. */
function tidyingJob(t: ExecutionContext, plan: Plan): Promise<ScriptedJob> {
  const { script = succeed, afterScript = succeed, variables = {}, options = {} } = plan;
  const list = Object.entries(variables).map(([key, value]) => ({ key, value, public: true }));
  return scriptedJob(
    t,
    { run: (run) => (run.kind === 'script' ? script(run) : afterScript(run)) },
    { options: { after_script: ['echo after'], ...options }, variables: list },
    { timing: { ...quickTiming, afterScriptLimit: 3_600_000 } },
  );
}

for (const exitCode of [0, 1]) {
  test(`after_script runs after exit code ${exitCode}, and its result does not count`, async (t) => {
    const { run, programs, trace } = await tidyingJob(t, {
      script: async () => ({ exitCode }),
      afterScript: async () => ({ exitCode: 9 }),
    });
    t.is((await run()).kind, exitCode === 0 ? 'success' : 'script_failed');
    t.is(programs.length, 2);
    t.regex(programs[1] ?? '', exitCode === 0 ? /CI_JOB_STATUS='success'/ : /CI_JOB_STATUS='failed'/);
    t.true(trace().includes('after_script failed with exit code 9'));
  });
}

test('an after_script that does not end is ended, and the result stands', async (t) => {
  const { run, trace } = await scriptedJob(
    t,
    { run: async (script) => (script.kind === 'script' ? { exitCode: 0 } : hang(script)) },
    { options: { after_script: ['sleep 1000'] } },
  );
  t.is((await run()).kind, 'success');
  t.true(trace().includes('after_script was ended: it took too long'));
});

test('RUNNER_AFTER_SCRIPT_TIMEOUT is the limit of the after_script', async (t) => {
  const { run, trace } = await tidyingJob(t, {
    afterScript: hang,
    variables: { RUNNER_AFTER_SCRIPT_TIMEOUT: '1s' },
  });
  t.is((await run()).kind, 'success');
  t.true(trace().includes('after_script was ended: it took too long'));
});

test('RUNNER_SCRIPT_TIMEOUT ends the script, and leaves time for the after_script', async (t) => {
  const { run, programs, build, trace } = await tidyingJob(t, {
    script: hang,
    variables: { RUNNER_SCRIPT_TIMEOUT: '1 sec' },
  });
  t.deepEqual(await run(), { kind: 'timed_out', seconds: 1 });
  t.is(build.status, 'failed');
  t.is(lastLine(trace()), 'ERROR: Job failed: execution took longer than 1 seconds');
  t.regex(programs[1] ?? '', /CI_JOB_STATUS='failed'/);
});

test('a time that cannot be read is a warning', async (t) => {
  const { run, trace } = await tidyingJob(t, {
    variables: { RUNNER_SCRIPT_TIMEOUT: '7 elephants', RUNNER_AFTER_SCRIPT_TIMEOUT: '0' },
  });
  t.is((await run()).kind, 'success');
  t.true(trace().includes('RUNNER_SCRIPT_TIMEOUT must be a time such as 10m, not "7 elephants"'));
  t.true(trace().includes('RUNNER_AFTER_SCRIPT_TIMEOUT must be a time such as 10m, not "0"'));
});

test('after a cancel the after_script runs, its output arrives, and no state is reported', async (t) => {
  const job = await tidyingJob(t, {
    script: hang,
    afterScript: async ({ output }) => {
      await output(Buffer.from('tidied up\n'));
      return { exitCode: 0 };
    },
    options: { artifacts: { paths: ['out'], when: 'always' }, cache: { paths: ['out'] } },
  });
  const { run, server, build, calls, programs, trace } = job;
  const running = run();
  await server.until(() => calls.includes('run:script'));
  build.status = 'canceled';
  t.deepEqual(await running, { kind: 'canceled', gone: false });
  t.regex(programs[1] ?? '', /CI_JOB_STATUS='canceled'/);
  t.regex(trace(), /tidied up\n(.|\s)*Job canceled/);
  t.is(server.requests('PUT', /builds/).length, 0);
  t.is(server.requests('POST', /artifacts/).length, 0);
  t.is(calls.at(-1), 'cleanUp');
});

test('after a cancel before the script there is nothing to tidy up', async (t) => {
  const prepare = ({ signal }: PrepareRequest) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const job = await scriptedJob(t, { prepare }, { options: { after_script: ['echo after'] } });
  const { run, server, build, calls } = job;
  const running = run();
  await server.until(() => calls.includes('prepare'));
  build.status = 'canceled';
  t.is((await running).kind, 'canceled');
  t.deepEqual(calls, ['prepare']);
});

for (const cause of ['deleted', 'shutdown'] as const) {
  test(`an after_script that runs after a cancel ends when the build is ${cause}`, async (t) => {
    const { run, server, build, calls, shutdown } = await tidyingJob(t, { script: hang, afterScript: hang });
    const running = run();
    await server.until(() => calls.includes('run:script'));
    build.status = 'canceled';
    await server.until(() => calls.includes('run:after_script'));
    if (cause === 'shutdown') shutdown.abort();
    else server.builds.delete(build.payload.id);
    t.deepEqual(await running, { kind: 'canceled', gone: false });
    t.is(calls.at(-1), 'cleanUp');
  });
}

test('a cancel ends an after_script that runs already', async (t) => {
  const { run, server, build, calls } = await tidyingJob(t, { afterScript: hang });
  const running = run();
  await server.until(() => calls.includes('run:after_script'));
  build.status = 'canceled';
  t.deepEqual(await running, { kind: 'canceled', gone: false });
});

test('after the end of its time a build gets no after_script', async (t) => {
  const { run, calls, build } = await tidyingJob(t, { script: hang });
  build.payload.timeout = 1;
  t.deepEqual(await run(), { kind: 'timed_out', seconds: 1 });
  t.false(calls.includes('run:after_script'));
});
