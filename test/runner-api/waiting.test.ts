import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import pg from 'pg';
import { rootToken, startApp, withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import type { MadeBuild, MadeProject, MadeRunner } from '../support/make.ts';

const holder = withApp();

interface Outcome {
  status: number;
  id: number | undefined;
}

interface Wait {
  seconds?: number;
  signal?: AbortSignal;
}

/** Asks for a build and is ready to wait; resolves once the runner is in line, to its answer in time. */
async function inLine(runner: MadeRunner, { seconds = 60, signal }: Wait = {}) {
  const { url, services } = holder.app;
  const before = services.wakeups.waiting;
  const answer = ask(url, runner, { seconds, ...(signal ? { signal } : {}) });
  await eventually(() => services.wakeups.waiting > before);
  return { answer };
}

async function ask(url: string, runner: MadeRunner, { seconds = 0, signal }: Wait): Promise<Outcome> {
  const response = await fetch(`${url}/ci/api/v1/builds/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Prefer: `wait=${seconds}` },
    body: JSON.stringify({ token: runner.token }),
    ...(signal ? { signal } : {}),
  });
  const body = (await response.json()) as { id?: number };
  return { status: response.status, id: body.id };
}

/** Fails when the answer only comes because the server looks again by itself, which it does now and then. */
async function byWakeUp<T>(answer: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(14_000, undefined, { signal: timer.signal }).then(() => {
    throw new Error('nobody woke it');
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    late.catch(() => undefined);
    timer.abort();
  }
}

async function retry(project: MadeProject, build: MadeBuild): Promise<number> {
  const path = `/api/v3/projects/${project.id}/builds/${build.id}/retry`;
  const { status, body } = await holder.app.call<{ id: number }>('POST', path, { as: rootToken });
  if (status !== 201) throw new Error(`retry: ${status}`);
  return body.id;
}

/** A project with a runner of its own, and a finished build to retry. */
async function setUp(job: { tags?: string[] } = {}) {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const finished = await make.build(project, { status: 'failed', job });
  return { project, runner, finished };
}

test.serial('a retry is handed to the runner that waits', async (t) => {
  const { project, runner, finished } = await setUp();
  const { answer } = await inLine(runner);
  const id = await retry(project, finished);
  t.deepEqual(await byWakeUp(answer), { status: 201, id });
});

test.serial(
  'the next stage is handed to the runner that waits, when the last build before it ends',
  async (t) => {
    const { make, rows, call } = holder.app;
    const { project, runner } = await setUp();
    const busy = await make.runner({ projects: [project] });
    const first = await make.build(project, { status: 'running', runner: busy, job: { stageIndex: 0 } });
    await rows(
      `insert into pipeline_jobs (pipeline_id, position, name, definition) select pipeline_id, 100000, 'next',
       definition || '{"name": "next", "stageIndex": 1}' from pipeline_jobs where id = $1`,
      [first.jobId],
    );
    const { answer } = await inLine(runner);
    await call('PUT', `/ci/api/v1/builds/${first.id}`, { json: { token: busy.token, state: 'success' } });
    t.is((await byWakeUp(answer)).status, 201);
  },
);

test.serial('a build that another runner gives back is handed over, its trace empty', async (t) => {
  const { make, call } = holder.app;
  const { project, runner } = await setUp();
  const other = await make.runner({ projects: [project] });
  const build = await make.build(project, { status: 'running', runner: other });
  await call('PATCH', `/ci/api/v1/builds/${build.id}/trace.txt`, {
    headers: { 'BUILD-TOKEN': build.token, 'Content-Range': '0-3' },
    body: 'abc',
  });
  const { answer } = await inLine(runner);
  const given = await call('PUT', `/ci/api/v1/builds/${build.id}`, {
    json: { token: other.token, state: 'pending' },
  });
  t.is(given.status, 200);
  t.deepEqual(await byWakeUp(answer), { status: 201, id: build.id });
  const late = await call('PUT', `/ci/api/v1/builds/${build.id}`, {
    json: { token: other.token, state: 'success' },
  });
  t.is(late.status, 404, 'it is no longer the other runner’s');
});

test.serial('a paused runner gets its build when it is activated', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project], active: false });
  const build = await make.build(project);
  const { answer } = await inLine(runner);
  await call('PUT', `/api/v3/runners/${runner.id}`, { as: rootToken, form: { active: 'true' } });
  t.deepEqual(await byWakeUp(answer), { status: 201, id: build.id });
});

test.serial('a runner that gets tags, a project, or shared runners for one, gets their builds', async (t) => {
  const { make, call } = holder.app;
  const { project, runner } = await setUp();
  const tagged = await make.build(project, { job: { tags: ['new'] } });
  const withTags = await inLine(runner);
  await call('PUT', `/api/v3/runners/${runner.id}`, { as: rootToken, json: { tag_list: ['new', 'x'] } });
  t.deepEqual(await byWakeUp(withTags.answer), { status: 201, id: tagged.id });

  const second = await make.project();
  const build = await make.build(second);
  const withProject = await inLine(runner);
  await call('POST', `/api/v3/projects/${second.id}/runners`, {
    as: rootToken,
    form: { runner_id: String(runner.id) },
  });
  t.deepEqual(await byWakeUp(withProject.answer), { status: 201, id: build.id });

  const closed = await make.project({ columns: { shared_runners_enabled: false } });
  const waiting = await make.build(closed, { job: { tags: ['shared-only'] } });
  const shared = await make.runner({ tags: ['shared-only'], runUntagged: false });
  const withShared = await inLine(shared);
  await call('PUT', `/api/v3/projects/${closed.id}`, {
    as: rootToken,
    form: { shared_runners_enabled: 'true' },
  });
  t.deepEqual(await byWakeUp(withShared.answer), { status: 201, id: waiting.id });
});

test.serial('a change of the runner counts for builds that come after it', async (t) => {
  const { call } = holder.app;
  const { project, runner, finished } = await setUp({ tags: ['later'] });
  const { answer } = await inLine(runner);
  await call('PUT', `/api/v3/runners/${runner.id}`, { as: rootToken, json: { tag_list: ['later'] } });
  const id = await retry(project, finished);
  t.deepEqual(await byWakeUp(answer), { status: 201, id });
});

test.serial(
  'a hint of a build that its receiver leaves for an older one goes on to the next in line',
  async (t) => {
    const { make } = holder.app;
    const { project, finished } = await setUp({ tags: ['b'] });
    const both = await make.runner({ projects: [project], tags: ['a', 'b'] });
    const only = await make.runner({ projects: [project], tags: ['b'] });
    const first = await inLine(both);
    const second = await inLine(only);
    // Written past the application, so nobody is told of it.
    const older = await make.build(project, { job: { tags: ['a'] }, columns: { created_at: '2016-01-01' } });
    const id = await retry(project, finished);
    t.deepEqual(await byWakeUp(first.answer), { status: 201, id: older.id });
    t.deepEqual(await byWakeUp(second.answer), { status: 201, id });
  },
);

test.serial('of two that wait, one gets the build and the other goes on waiting', async (t) => {
  const { make, services } = holder.app;
  const { project, runner, finished } = await setUp();
  const other = await make.runner({ projects: [project] });
  const answers = [(await inLine(runner)).answer, (await inLine(other)).answer];
  const id = await retry(project, finished);
  t.deepEqual(await byWakeUp(Promise.race(answers)), { status: 201, id });
  t.is(services.wakeups.waiting, 1);
  const second = await retry(project, await make.build(project, { status: 'failed' }));
  const ids = (await byWakeUp(Promise.all(answers))).map((outcome) => outcome.id);
  t.deepEqual(ids.sort(), [id, second]);
});

test.serial('nothing comes: 404 when the time is over, and at once where no wait can be read', async (t) => {
  const { runner } = await setUp();
  t.deepEqual(await ask(holder.app.url, runner, { seconds: 1 }), { status: 404, id: undefined });
  t.is(holder.app.services.wakeups.waiting, 0);
  const { call } = holder.app;
  for (const Prefer of ['wait=x', 'respond-async', 'wait=-5', 'await=60']) {
    const answer = await byWakeUp(
      call('POST', '/ci/api/v1/builds/register', { json: { token: runner.token }, headers: { Prefer } }),
    );
    t.is(answer.status, 404, Prefer);
  }
});

test.serial('a runner that is removed while it waits is told so', async (t) => {
  const { runner } = await setUp();
  const { answer } = await inLine(runner);
  await holder.app.call('DELETE', `/api/v3/runners/${runner.id}`, { as: rootToken });
  t.is((await byWakeUp(answer)).status, 403);
});

test.serial('a client that goes away while it waits takes no build along', async (t) => {
  const { make, services } = holder.app;
  const { project, runner, finished } = await setUp();
  const leaving = new AbortController();
  const { answer } = await inLine(runner, { signal: leaving.signal });
  leaving.abort();
  await t.throwsAsync(answer, { any: true });
  await eventually(() => services.wakeups.waiting === 0);
  const id = await retry(project, finished);
  const other = await make.runner({ projects: [project] });
  t.deepEqual(await ask(holder.app.url, other, {}), { status: 201, id });
});

for (const seconds of [0, 60]) {
  test.serial(
    `a client that goes away while its build is claimed loses none (wait=${seconds})`,
    async (t) => {
      const { make, rows, call, databaseUrl, url } = holder.app;
      const { project, runner } = await setUp();
      t.is((await ask(url, runner, {})).status, 404, 'the contact is noted, so the next call writes no row');
      const build = await make.build(project);
      const blocker = new pg.Client({ connectionString: databaseUrl });
      t.teardown(() => blocker.end());
      await blocker.connect();
      await blocker.query('begin');
      await blocker.query('select 1 from runners where id = $1 for update', [runner.id]);
      const leaving = new AbortController();
      const answer = ask(url, runner, { seconds, signal: leaving.signal });
      await eventually(async () => {
        const blocked = await rows(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return blocked.length === 1;
      });
      leaving.abort();
      await t.throwsAsync(answer, { any: true });
      // What is answered after the end of the other connection tells that the server has seen that end.
      await call('GET', '/nothing-here');
      await blocker.end();
      const other = await make.runner({ projects: [project] });
      t.deepEqual(await ask(url, other, { seconds: 60 }), { status: 201, id: build.id });
      const [row] = await rows('select runner_id from builds where id = $1', [build.id]);
      t.deepEqual(row, { runner_id: other.id });
    },
  );
}

test.serial('many wake-ups of one waiting runner leave nothing behind', async (t) => {
  const { call } = holder.app;
  const { project, runner, finished } = await setUp();
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const { answer } = await inLine(runner);
  for (let index = 0; index < 30; index += 1) {
    const form = { description: `number ${index}` };
    await call('PUT', `/api/v3/runners/${runner.id}`, { as: rootToken, form });
  }
  await retry(project, finished);
  t.is((await byWakeUp(answer)).status, 201);
  process.off('warning', note);
  t.deepEqual(
    warnings.filter((warning) => warning.name === 'MaxListenersExceededWarning'),
    [],
  );
});

async function listeners(): Promise<number[]> {
  const found = await holder.app.rows<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'hearth wake-ups'`,
  );
  return found.map((row) => row.pid);
}

test.serial(
  'a lost connection for wake-ups is made anew, and what happened meanwhile is found',
  async (t) => {
    const { rows, make } = holder.app;
    const { project, runner, finished } = await setUp();
    const { answer } = await inLine(runner);
    const [pid] = await listeners();
    await rows('select pg_terminate_backend($1)', [pid]);
    await eventually(async () => !(await listeners()).includes(pid ?? 0));
    const id = await retry(project, finished);
    t.deepEqual(await byWakeUp(answer), { status: 201, id });
    await eventually(async () => (await listeners()).length === 1);
    const other = await make.runner({ projects: [project], tags: ['x'] });
    const again = await inLine(other);
    const failed = await make.build(project, { status: 'failed', job: { tags: ['x'] } });
    const next = await retry(project, failed);
    t.deepEqual(await byWakeUp(again.answer), { status: 201, id: next });
  },
);

test.serial('a server that stops lets everybody go who waits', async (t) => {
  const app = await startApp();
  try {
    const runners = [await app.make.runner(), await app.make.runner()];
    const answers = runners.map((runner) => ask(app.url, runner, { seconds: 60 }));
    await eventually(() => app.services.wakeups.waiting === 2);
    await app.services.wakeups.stop();
    const outcomes = await byWakeUp(Promise.all(answers));
    t.deepEqual(
      outcomes.map((outcome) => outcome.status),
      [404, 404],
    );
    t.is((await byWakeUp(ask(app.url, runners[0] as MadeRunner, { seconds: 60 }))).status, 404);
  } finally {
    await app.close();
  }
});
