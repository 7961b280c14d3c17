import { Readable } from 'node:stream';
import test from 'ava';
import type { BuildStatus } from '../../shared/build-status.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import type { MadeBuild, MadeProject } from '../support/make.ts';

const holder = withApp();

type Build = Record<string, unknown> & { id: number; status: BuildStatus };

function act(project: MadeProject, build: { id: number }, verb: string, as?: string): Promise<Answer<Build>> {
  const path = `/api/v3/projects/${project.id}/builds/${build.id}/${verb}`;
  return holder.app.call<Build>('POST', path, { as: as ?? project.owner.token });
}

async function get(project: MadeProject, id: number): Promise<Build> {
  return (
    await holder.app.call<Build>('GET', `/api/v3/projects/${project.id}/builds/${id}`, { as: rootToken })
  ).body;
}

function claim(token: string): Promise<Answer<{ id: number }>> {
  return holder.app.call('POST', '/ci/api/v1/builds/register', { json: { token } });
}

const finished = ['success', 'failed', 'canceled'] as const;

test('cancel ends what waits or runs; nobody gets it any more', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ tags: ['cancel'], runUntagged: false });
  for (const status of ['pending', 'running'] as const) {
    const build = await make.build(project, { status, job: { tags: ['cancel'] } });
    const answer = await act(project, build, 'cancel');
    t.is(answer.status, 201);
    t.like(answer.body, { id: build.id, status: 'canceled' });
    t.truthy(answer.body.finished_at);
    t.deepEqual(answer.body, await get(project, build.id));
    t.is((await claim(runner.token)).status, 404);
    const [pipeline] = await rows<{ status: string }>('select status from pipelines where id = $1', [
      build.pipelineId,
    ]);
    t.is(pipeline?.status, 'canceled');
  }
});

test('cancel leaves a finished build as it is', async (t) => {
  const project = await holder.app.make.project();
  for (const status of finished) {
    const build = await holder.app.make.build(project, { status });
    const before = await get(project, build.id);
    const answer = await act(project, build, 'cancel');
    t.is(answer.status, 201);
    t.deepEqual(answer.body, before);
  }
});

test('a late success does not revive a build that was canceled', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project();
  const runner = await make.runner();
  const build = await make.build(project, { status: 'running', runner });
  await act(project, build, 'cancel');
  const json = { token: runner.token, state: 'success' };
  const late = await call('PUT', `/ci/api/v1/builds/${build.id}`, { json });
  t.is(late.status, 404, 'which is how its runner learns of it');
  t.is((await get(project, build.id)).status, 'canceled');
});

test('retry makes a new pending build of a finished one', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ tags: ['retry'], runUntagged: false });
  for (const status of finished) {
    const developer = await make.member(project, 'developer');
    const build = await make.build(project, {
      status,
      ref: 'v2',
      tag: true,
      job: { name: `job of ${status}`, stage: 'deploy', tags: ['retry'], allowFailure: true },
      columns: { coverage: 12, artifacts_key: 'x', artifacts_filename: 'x.zip', artifacts_size: 1 },
    });
    const old = await get(project, build.id);
    const answer = await act(project, build, 'retry', developer.token);
    t.is(answer.status, 201, status);
    t.true(answer.body.id > build.id);
    t.like(answer.body, {
      status: 'pending',
      name: `job of ${status}`,
      stage: 'deploy',
      ref: 'v2',
      tag: true,
      started_at: null,
      finished_at: null,
      coverage: null,
      artifacts_file: null,
      runner: null,
      user: { id: developer.id },
    });
    t.deepEqual(await get(project, build.id), old, 'the old one stays');
    const latest = await rows(
      'select id, latest, allow_failure from builds where pipeline_id = $1 order by id',
      [build.pipelineId],
    );
    t.deepEqual(latest, [
      { id: build.id, latest: false, allow_failure: true },
      { id: answer.body.id, latest: true, allow_failure: true },
    ]);
    const taken = await claim(runner.token);
    t.is(taken.body.id, answer.body.id);
  }
});

test('retry of a pending build is that build, of a running one is refused', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const pending = await make.build(project);
  const same = await act(project, pending, 'retry');
  t.is(same.status, 201);
  t.deepEqual(same.body, await get(project, pending.id));
  const running = await make.build(project, { status: 'running' });
  const refused = await act(project, running, 'retry');
  t.is(refused.status, 403);
  t.deepEqual(refused.body, { message: '403 Forbidden - Build is not retryable' } as never);
  t.is((await get(project, running.id)).status, 'running');
});

test('retry twice makes one build; after its end, another', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const build = await make.build(project, { status: 'failed' });
  const answers = [await act(project, build, 'retry'), await act(project, build, 'retry')];
  t.is(new Set(answers.map(({ body }) => body.id)).size, 1);
  const next = { id: answers[0]?.body.id ?? 0 };
  await act(project, next, 'cancel');
  const third = await act(project, build, 'retry');
  t.true(third.body.id > next.id);
});

test('retry is refused where builds are off', async (t) => {
  const project = await holder.app.make.project({ columns: { builds_enabled: false } });
  const build = await holder.app.make.build(project, { status: 'failed' });
  t.is((await act(project, build, 'retry')).status, 403);
  t.is((await act(project, build, 'retry', rootToken)).status, 403);
});

test('a build without commands is not run again', async (t) => {
  const project = await holder.app.make.project();
  const build = await holder.app.make.build(project, { status: 'failed', job: { script: [] } });
  const refused = await act(project, build, 'retry');
  t.is(refused.status, 403);
  t.deepEqual(refused.body, { message: '403 Forbidden - Build is not retryable' } as never);
});

/** A finished build with a trace in the database or in the blob store, and with artifacts. */
async function withTrace(project: MadeProject, isArchived: boolean): Promise<MadeBuild & { key: string }> {
  const { make, call, services, runAllTasks } = holder.app;
  const runner = await make.runner();
  const build = await make.build(project, { status: 'running', runner });
  const part = await call('PATCH', `/ci/api/v1/builds/${build.id}/trace.txt`, {
    headers: { 'BUILD-TOKEN': build.token, 'Content-Range': '0-4' },
    body: 'trace',
  });
  if (part.status !== 202) throw new Error(JSON.stringify(part.body));
  const key = `artifacts/erase/${build.id}`;
  await services.storage.put(key, Readable.from([Buffer.from('zip')]));
  await holder.app.rows(
    `update builds set artifacts_key = $2, artifacts_filename = 'a.zip', artifacts_size = 3 where id = $1`,
    [build.id, key],
  );
  const json = { token: runner.token, state: 'success' };
  await call('PUT', `/ci/api/v1/builds/${build.id}`, { json });
  if (isArchived) await runAllTasks();
  return { ...build, key };
}

for (const isArchived of [false, true]) {
  const where = isArchived ? 'the blob store' : 'the database';
  test.serial(`erase removes artifacts and a trace in ${where}, and keeps the rest`, async (t) => {
    const { make, call, services, runAllTasks, rows } = holder.app;
    const project = await make.project();
    const build = await withTrace(project, isArchived);
    const [trace] = await rows<{ blob_key: string | null }>(
      'select blob_key from traces where build_id = $1',
      [build.id],
    );
    t.is(trace?.blob_key === null, !isArchived);
    const before = await get(project, build.id);
    const answer = await act(project, build, 'erase');
    t.is(answer.status, 201);
    const { artifacts_file, ...rest } = before;
    t.deepEqual(artifacts_file, { filename: 'a.zip', size: 3 });
    t.deepEqual(answer.body, { ...rest, download_url: null });
    t.deepEqual(await get(project, build.id), { ...before, artifacts_file: null });
    const path = `/api/v3/projects/${project.id}/builds/${build.id}`;
    const as = project.owner.token;
    t.is((await call('GET', `${path}/artifacts`, { as })).status, 404);
    t.is((await call('GET', `${path}/trace`, { as })).body, '');
    const [row] = await rows(
      'select erased_at is not null as erased, erased_by_id from builds where id = $1',
      [build.id],
    );
    t.deepEqual(row, { erased: true, erased_by_id: project.owner.id });
    await runAllTasks();
    t.is(await services.storage.get(build.key), null, 'the bytes are gone');
    if (trace?.blob_key) t.is(await services.storage.get(trace.blob_key), null);
    t.is((await call('GET', `${path}/trace`, { as })).body, '', 'and nothing is archived later');
  });
}

test('erase with nothing to erase is a success, also twice', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  for (const status of finished) {
    const build = await make.build(project, { status });
    for (const attempt of [1, 2]) {
      const answer = await act(project, build, 'erase', attempt === 1 ? undefined : rootToken);
      t.is(answer.status, 201, status);
      t.is(answer.body.status, status);
    }
    const [row] = await holder.app.rows<{ by: number }>(
      'select erased_by_id as by from builds where id = $1',
      [build.id],
    );
    t.is(row?.by, project.owner.id, 'the first who did it');
  }
});

test('erase is refused before the end', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  for (const status of ['pending', 'running'] as const) {
    const build = await make.build(project, { status });
    const answer = await act(project, build, 'erase');
    t.is(answer.status, 403);
    t.deepEqual(answer.body, { message: '403 Forbidden - Build is not erasable!' } as never);
  }
});

test('what was erased can be run again', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const build = await make.build(project, { status: 'failed' });
  await act(project, build, 'erase');
  t.is((await act(project, build, 'retry')).body.status, 'pending');
});
