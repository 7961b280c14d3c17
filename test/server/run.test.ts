import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SAMPLES = 'test/server/run-samples';
const NO_ENGINE = 'unix:///nowhere/docker.sock';
/** What a run of tests tells its own processes; the run inside it must not hear that. */
const INHERITED = /^(AVA_|NODE_|TEST_WORKER|FORCE_COLOR|HEARTH_)/;

/** `npm test` for one sample, with TMPDIR at `folder`, where everything that it leaves behind would be seen. */
function startRun(sample: string, folder: string, variables: Record<string, string> = {}) {
  const own = Object.entries(process.env).filter(([name]) => !INHERITED.test(name));
  const env = { ...Object.fromEntries(own), DOCKER_HOST: NO_ENGINE, ...variables, TMPDIR: folder };
  const args = ['test/run.js', `--config=${SAMPLES}/ava.config.js`, `${SAMPLES}/${sample}.sample.ts`];
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finishRun(sample: string, folder: string, variables: Record<string, string> = {}) {
  const child = startRun(sample, folder, variables);
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { lastLine: stdout.trimEnd().split('\n').at(-1), stderr, code };
}

async function leftIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('hearth-'));
}

test.serial(
  'the last line counts passed, failed and skipped tests, and a failure is the exit code',
  async (t) => {
    const folder = await temporaryFolder(t);
    const run = await finishRun('mixed', folder);
    t.is(run.lastLine, '2 passed, 1 failed, 1 skipped');
    t.is(run.code, 1);
    t.deepEqual(await leftIn(folder), []);
  },
);

test.serial('a missing Docker engine is one loud line', async (t) => {
  const run = await finishRun('good', await temporaryFolder(t));
  t.is(run.lastLine, '1 passed, 0 failed, 0 skipped');
  t.is(run.code, 0);
  t.is(run.stderr.trim(), `DOCKER TESTS SKIPPED: no Docker engine answers on ${NO_ENGINE}`);
});

test.serial('a missing Docker engine is a failure where one is required', async (t) => {
  const run = await finishRun('good', await temporaryFolder(t), { HEARTH_REQUIRE_DOCKER: '1' });
  t.is(run.code, 1);
  t.regex(run.stderr, /no Docker engine answers/);
});

test.serial('a file that crashes after its tests counts as a failure', async (t) => {
  const run = await finishRun('crash', await temporaryFolder(t));
  t.is(run.code, 1);
  t.regex(run.lastLine ?? '', /, 1 failed, 0 skipped$/);
});

test.serial('a run without any test is not a success', async (t) => {
  for (const sample of ['empty', 'missing']) {
    const run = await finishRun(sample, await temporaryFolder(t));
    t.is(run.code, 1);
    t.regex(run.stderr, /no test ran/);
  }
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test.serial(`${signal} ends the tests, stops PostgreSQL and leaves nothing`, async (t) => {
    const folder = await temporaryFolder(t);
    const child = startRun('hanging', folder);
    const ended = once(child, 'close');
    let worker = 0;
    child.stdout.resume();
    for await (const line of createInterface({ input: child.stderr })) {
      const pid = Number(/^process (\d+)$/.exec(line)?.[1] ?? 0);
      if (pid > 0) {
        worker = pid;
        child.kill(signal);
      }
    }
    const [code] = await ended;
    t.is(code, 1);
    t.deepEqual(await leftIn(folder), []);
    t.false(existsSync(`/proc/${worker}/exe`));
  });
}

test.serial('a reader that goes away ends the tests, and nothing is left', async (t) => {
  const folder = await temporaryFolder(t);
  const child = startRun('mixed', folder);
  child.stderr.resume();
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  child.stdout.destroy();
  t.is((await ended)[0], 1);
  t.deepEqual(await leftIn(folder), []);
});
