import test from 'ava';
import type { BuildPayload } from '../../shared/protocol/build.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject, MadeRunner } from '../support/make.ts';
import { callsOf, type RunningBuild, runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 10 });

interface Job {
  name: string;
  stageIndex: number;
  when?: 'on_success' | 'on_failure' | 'always';
  allowFailure?: boolean;
}

interface Line {
  project: MadeProject;
  runner: MadeRunner;
  pipelineId: number;
}

/** A pipeline of these jobs, all of the first stage at work. */
async function pipeline(jobs: Job[]): Promise<Line & { first: RunningBuild[] }> {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  // So that no report writes the runner's own row, where they would wait for each other.
  await rows('update runners set contacted_at = now() where id = $1', [runner.id]);
  const line: Partial<Line> = {};
  const first: RunningBuild[] = [];
  for (const job of jobs.filter(({ stageIndex }) => stageIndex === 0)) {
    const given = { ...job, stage: 'stage0', when: job.when ?? 'on_success' };
    const build = await make.build(project, {
      status: 'running',
      runner,
      job: given,
      ...(line.pipelineId === undefined ? {} : { pipelineId: line.pipelineId }),
    });
    line.pipelineId = build.pipelineId;
    first.push(callsOf(holder.app, { project, runner, build }));
  }
  for (const [index, job] of jobs.filter(({ stageIndex }) => stageIndex > 0).entries()) {
    await rows(
      `insert into pipeline_jobs (pipeline_id, position, name, definition)
       select pipeline_id, 1000000 + $2, $3, definition || $4::jsonb from pipeline_jobs
       where pipeline_id = $1 order by id limit 1`,
      [
        line.pipelineId,
        index,
        job.name,
        JSON.stringify({ when: 'on_success', allowFailure: false, ...job, stage: `stage${job.stageIndex}` }),
      ],
    );
  }
  return { project, runner, pipelineId: line.pipelineId ?? 0, first };
}

/** `name status` of every build, in order of their ids. */
async function builds(pipelineId: number): Promise<string[]> {
  const rows = await holder.app.rows<{ name: string; status: string }>(
    'select name, status from builds where pipeline_id = $1 order by id',
    [pipelineId],
  );
  return rows.map((row) => `${row.name} ${row.status}`);
}

async function state(pipelineId: number): Promise<string | undefined> {
  const query = 'select status, finished_at is not null as ended from pipelines where id = $1';
  const [row] = await holder.app.rows<{ status: string; ended: boolean }>(query, [pipelineId]);
  return row && (row.ended ? `${row.status}, ended` : row.status);
}

async function claim(runner: MadeRunner): Promise<BuildPayload> {
  const answer = await holder.app.call<BuildPayload>('POST', '/ci/api/v1/builds/register', {
    json: { token: runner.token },
  });
  if (answer.status !== 201) throw new Error(`claim: ${answer.status}`);
  return answer.body;
}

function report(runner: MadeRunner, id: number, state: string) {
  return holder.app.call('PUT', `/ci/api/v1/builds/${id}`, { json: { token: runner.token, state } });
}

test('stages follow each other, and the pipeline ends with the last', async (t) => {
  const { runner, pipelineId, first } = await pipeline([
    { name: 'a', stageIndex: 0 },
    { name: 'b', stageIndex: 0 },
    { name: 'c', stageIndex: 1 },
    { name: 'd', stageIndex: 2 },
  ]);
  await first[0]?.put({ state: 'success' });
  t.deepEqual(await builds(pipelineId), ['a success', 'b running'], 'the stage is not over');
  await first[1]?.put({ state: 'success' });
  t.deepEqual(await builds(pipelineId), ['a success', 'b success', 'c pending']);
  t.is(await state(pipelineId), 'running');
  for (const name of ['c', 'd']) {
    const build = await claim(runner);
    t.is(build.name, name);
    await report(runner, build.id, 'success');
  }
  t.deepEqual(await builds(pipelineId), ['a success', 'b success', 'c success', 'd success']);
  t.is(await state(pipelineId), 'success, ended');
});

test('after a failure only what was planned for it runs', async (t) => {
  const { runner, pipelineId, first } = await pipeline([
    { name: 'a', stageIndex: 0 },
    { name: 'next', stageIndex: 1 },
    { name: 'rescue', stageIndex: 2, when: 'on_failure' },
    { name: 'clean up', stageIndex: 2, when: 'always' },
  ]);
  await first[0]?.put({ state: 'failed' });
  t.deepEqual(await builds(pipelineId), ['a failed', 'rescue pending', 'clean up pending']);
  for (let index = 0; index < 2; index += 1) await report(runner, (await claim(runner)).id, 'success');
  t.is(await state(pipelineId), 'failed, ended');
});

test('a failure that is allowed does not stop the line', async (t) => {
  const { pipelineId, first } = await pipeline([
    { name: 'a', stageIndex: 0, allowFailure: true },
    { name: 'b', stageIndex: 1 },
  ]);
  await first[0]?.put({ state: 'failed' });
  t.deepEqual(await builds(pipelineId), ['a failed', 'b pending']);
});

test('a canceled build stays canceled, whatever its runner reports later, and stops the line', async (t) => {
  const { pipelineId, first } = await pipeline([
    { name: 'a', stageIndex: 0 },
    { name: 'b', stageIndex: 1, when: 'always' },
  ]);
  const [build] = first as [RunningBuild];
  t.is((await build.act('cancel')).json.status, 'canceled');
  for (const late of ['success', 'failed', 'running', 'pending']) {
    t.is((await build.put({ state: late, trace: 'late' })).status, 404, late);
  }
  t.is((await build.put({ trace: 'late' })).status, 404);
  t.is((await build.read()).text, '');
  t.is((await build.put({ state: 'canceled' })).status, 200, 'the end that it has');
  t.deepEqual(await builds(pipelineId), ['a canceled']);
  t.is(await state(pipelineId), 'canceled, ended');
});

test('canceling a finished build changes nothing', async (t) => {
  const build = await runningBuild(holder.app);
  await build.put({ state: 'success' });
  const answer = await build.act('cancel');
  t.is(answer.status, 201);
  t.is(answer.json.status, 'success');
});

test('an end that is reported twice is fine and happens once; another end is refused', async (t) => {
  for (const end of ['success', 'failed', 'canceled']) {
    const { pipelineId, first } = await pipeline([
      { name: 'a', stageIndex: 0 },
      { name: 'b', stageIndex: 1, when: 'always' },
    ]);
    const [build] = first as [RunningBuild];
    t.is((await build.put({ state: end, trace: 'the trace' })).status, 200, end);
    const [before] = await holder.app.rows('select * from builds where id = $1', [build.build.id]);
    t.is((await build.put({ state: end, trace: 'another trace' })).status, 200, end);
    t.deepEqual((await holder.app.rows('select * from builds where id = $1', [build.build.id]))[0], before);
    t.is((await build.read()).text, 'the trace');
    const other = end === 'success' ? 'failed' : 'success';
    t.is((await build.put({ state: other })).status, 404, end);
    const follows = end === 'canceled' ? [] : ['b pending'];
    t.deepEqual(await builds(pipelineId), [`a ${end}`, ...follows]);
  }
});

test('states: unknown ones are refused, running and none change nothing', async (t) => {
  const build = await runningBuild(holder.app);
  const unknown = await build.put({ state: 'exploded' });
  t.is(unknown.status, 400);
  t.deepEqual(unknown.json, { message: { state: ['is not included in the list'] } });
  t.is((await build.put({ state: 'running' })).status, 200);
  t.is((await build.put({})).status, 200);
  const [row] = await holder.app.rows('select status from builds where id = $1', [build.build.id]);
  t.deepEqual(row, { status: 'running' });
});

test('a build belongs to the runner that took it', async (t) => {
  const build = await runningBuild(holder.app);
  const other = await holder.app.make.runner({ projects: [build.project] });
  t.is((await report(other, build.build.id, 'success')).status, 404);
  t.is((await build.put({ state: 'success' })).status, 200);
});

test('retry: a finished build gets a new one, which is pending, and the old stays as it is', async (t) => {
  const { pipelineId, first, runner } = await pipeline([
    { name: 'a', stageIndex: 0 },
    { name: 'b', stageIndex: 1 },
  ]);
  const [build] = first as [RunningBuild];
  await build.put({ state: 'failed', trace: 'old' });
  const { status, json } = await build.act('retry');
  t.is(status, 201);
  t.like(json, { status: 'pending', name: 'a', started_at: null, finished_at: null, runner: null });
  t.true(json.id > build.build.id);
  t.is(await state(pipelineId), 'pending');
  t.is((await build.read()).text, 'old');
  t.is((await build.put({ state: 'success' })).status, 404, 'late calls reach the old one alone');
  const again = await claim(runner);
  t.is(again.id, json.id);
  await report(runner, again.id, 'success');
  t.deepEqual(await builds(pipelineId), ['a failed', 'a success', 'b pending']);
});

test('retry: a pending build is its own, a running one is refused', async (t) => {
  const { pipelineId, first, runner, project } = await pipeline([{ name: 'a', stageIndex: 0 }]);
  const [build] = first as [RunningBuild];
  const refused = await build.act('retry');
  t.is(refused.status, 403);
  await build.put({ state: 'failed' });
  const { id } = (await build.act('retry')).json;
  const path = `/api/v3/projects/${project.id}/builds/${id}/retry`;
  const same = await holder.app.call<{ id: number }>('POST', path, { as: rootToken });
  t.is(same.status, 201);
  t.is(same.body.id, id);
  t.is((await build.act('retry')).json.id, id, 'the older one too, while the newer waits');
  await claim(runner);
  t.is((await holder.app.call('POST', path, { as: rootToken })).status, 403);
  t.deepEqual(await builds(pipelineId), ['a failed', 'a running']);
});

test('retry of an older build makes one more, and only the newest counts', async (t) => {
  const { pipelineId, first, runner } = await pipeline([
    { name: 'a', stageIndex: 0 },
    { name: 'b', stageIndex: 1 },
  ]);
  const [build] = first as [RunningBuild];
  await build.put({ state: 'failed' });
  await build.act('retry');
  await report(runner, (await claim(runner)).id, 'failed');
  const third = (await build.act('retry')).json;
  t.deepEqual(await builds(pipelineId), ['a failed', 'a failed', 'a pending']);
  const latest = await holder.app.rows('select id from builds where pipeline_id = $1 and latest', [
    pipelineId,
  ]);
  t.deepEqual(latest, [{ id: third.id }]);
  await report(runner, (await claim(runner)).id, 'success');
  t.deepEqual(await builds(pipelineId), ['a failed', 'a failed', 'a success', 'b pending']);
});

test('many retries of one build at once make one build', async (t) => {
  const { pipelineId, first } = await pipeline([{ name: 'a', stageIndex: 0 }]);
  const [build] = first as [RunningBuild];
  await build.put({ state: 'failed' });
  const answers = await Promise.all(Array.from({ length: 6 }, () => build.act('retry')));
  t.is(new Set(answers.map((answer) => answer.json.id)).size, 1);
  t.deepEqual(await builds(pipelineId), ['a failed', 'a pending']);
});

test('erase: of a finished build trace and artifacts go; a second time it is fine; others are refused', async (t) => {
  const build = await runningBuild(holder.app);
  t.is((await build.act('erase')).status, 403);
  await build.put({ state: 'failed', trace: 'text' });
  t.is((await build.act('erase')).status, 201);
  t.is((await build.act('erase')).status, 201);
  t.is((await build.read()).text, '');
  t.is((await build.put({ state: 'failed' })).status, 403);
  const [row] = await holder.app.rows('select erased_by_id is not null as known from builds where id = $1', [
    build.build.id,
  ]);
  t.deepEqual(row, { known: true });
  const { make, call } = holder.app;
  const pending = await make.build(build.project);
  const path = `/api/v3/projects/${build.project.id}/builds/${pending.id}/erase`;
  t.is((await call('POST', path, { as: rootToken })).status, 403);
});

test('a build that is given back waits again, for any runner', async (t) => {
  const build = await runningBuild(holder.app);
  await build.patch(0, 'abc');
  t.is((await build.put({ state: 'pending' })).status, 200);
  t.is(await state(build.build.pipelineId), 'pending');
  t.is((await build.read()).text, '');
  t.is((await build.put({ state: 'success' })).status, 404);
  const other = await holder.app.make.runner({ projects: [build.project] });
  t.is((await claim(other)).id, build.build.id);
});

test('the last two builds of a stage end at once, 50 times: the next stage begins once', async (t) => {
  const runs = Array.from({ length: 50 }, async (_, run) => {
    const { pipelineId, first } = await pipeline([
      { name: 'a', stageIndex: 0 },
      { name: 'b', stageIndex: 0 },
      { name: 'c', stageIndex: 1 },
      { name: 'd', stageIndex: 1 },
    ]);
    const ends = await Promise.all(first.map((build) => build.put({ state: 'success' })));
    t.deepEqual(
      ends.map((end) => end.status),
      [200, 200],
    );
    t.deepEqual(await builds(pipelineId), ['a success', 'b success', 'c pending', 'd pending'], `run ${run}`);
  });
  await Promise.all(runs);
});

test('reports, cancels and the end of a runner at once: every build has one end and the line goes on right', async (t) => {
  for (let run = 0; run < 15; run += 1) {
    const { pipelineId, first, runner } = await pipeline([
      { name: 'a', stageIndex: 0 },
      { name: 'b', stageIndex: 0 },
      { name: 'c', stageIndex: 0 },
      { name: 'after', stageIndex: 1, when: 'always' },
    ]);
    const [a, b, c] = first as [RunningBuild, RunningBuild, RunningBuild];
    const answers = await Promise.all([
      a.put({ state: 'success', trace: 'a' }),
      b.act('cancel'),
      b.put({ state: 'failed' }),
      c.put({ state: 'success' }),
      c.patch(0, 'part'),
      holder.app.call('DELETE', '/ci/api/v1/runners/delete', { json: { token: runner.token } }),
    ]);
    t.true(answers.every((answer) => answer.status < 500));
    const ends = await builds(pipelineId);
    // A canceled build stops the line, unless a failed one weighs more.
    const isStopped =
      ends.some((end) => end.endsWith('canceled')) && !ends.some((end) => end.endsWith('failed'));
    t.is(ends.length, isStopped ? 3 : 4, ends.join());
    t.false(
      ends.slice(0, 3).some((end) => /running|pending/.test(end)),
      ends.join(),
    );
  }
  t.false(holder.app.logLines.some((line) => line.includes('deadlock')));
});
