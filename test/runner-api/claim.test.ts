import test from 'ava';
import type { BuildPayload } from '../../shared/protocol/build.ts';
import { rootToken, withApp } from '../support/app.ts';
import { checkPayload } from '../support/go-payload.ts';
import type { MadeProject, MadeRunner } from '../support/make.ts';

const holder = withApp();

function claim(runner: MadeRunner) {
  return holder.app.call<BuildPayload>('POST', '/ci/api/v1/builds/register', {
    json: { token: runner.token },
  });
}

/** Ids of the builds that the runner gets, until there are none. */
async function claimAll(runner: MadeRunner): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    const answer = await claim(runner);
    if (answer.status !== 201) return ids;
    ids.push(answer.body.id);
  }
}

function changeProject(project: MadeProject, form: Record<string, string>) {
  return holder.app.call('PUT', `/api/v3/projects/${project.id}`, { as: rootToken, form });
}

test('a runner takes what asks for no other tags than it has', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const plain = await make.build(project);
  const ruby = await make.build(project, { job: { tags: ['ruby'] } });
  const both = await make.build(project, { job: { tags: ['ruby', 'mysql'] } });
  const other = await make.build(project, { job: { tags: ['ruby', 'osx'] } });
  const projects = [project];
  t.deepEqual(await claimAll(await make.runner({ projects, tags: ['ruby'], runUntagged: false })), [ruby.id]);
  t.deepEqual(await claimAll(await make.runner({ projects, tags: ['mysql', 'ruby', 'x'] })), [
    plain.id,
    both.id,
  ]);
  t.deepEqual(await claimAll(await make.runner({ projects })), []);
  t.deepEqual(await claimAll(await make.runner({ projects, tags: ['osx', 'ruby'] })), [other.id]);
});

test('the oldest comes first, and the smaller id of two of one moment', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project], tags: ['a'] });
  const at = (created_at: string) => ({ columns: { created_at } });
  const third = await make.build(project, at('2016-01-03'));
  const second = await make.build(project, { ...at('2016-01-02'), job: { tags: ['a'] } });
  const first = await make.build(project, at('2016-01-01'));
  const fourth = await make.build(project, { ...at('2016-01-03'), job: { tags: ['a'] } });
  t.deepEqual(await claimAll(runner), [first.id, second.id, third.id, fourth.id]);
});

test('a specific runner serves its projects, a shared one all that take shared runners', async (t) => {
  const { make } = holder.app;
  const job = { tags: ['kinds'] };
  const mine = await make.project();
  const also = await make.project();
  const closed = await make.project({ columns: { shared_runners_enabled: false } });
  const builds: number[] = [];
  for (const project of [mine, also, closed]) builds.push((await make.build(project, { job })).id);
  const specific = await make.runner({ projects: [mine, closed], tags: ['kinds'] });
  t.deepEqual(await claimAll(specific), [builds[0], builds[2]]);
  const shared = await make.runner({ tags: ['kinds'], runUntagged: false });
  t.deepEqual(await claimAll(shared), [builds[1]]);
});

test('shared runners and builds of a project can be switched off and on while builds wait', async (t) => {
  const { make } = holder.app;
  const job = { tags: ['switches'] };
  const project = await make.project();
  const shared = await make.runner({ tags: ['switches'], runUntagged: false });
  const specific = await make.runner({ projects: [project], tags: ['switches'] });
  const first = await make.build(project, { job });
  const second = await make.build(project, { job });
  await changeProject(project, { shared_runners_enabled: 'false' });
  t.is((await claim(shared)).status, 404);
  await changeProject(project, { shared_runners_enabled: 'true' });
  t.is((await claim(shared)).body.id, first.id);
  await changeProject(project, { builds_enabled: 'false' });
  t.is((await claim(shared)).status, 404);
  t.is((await claim(specific)).status, 404);
  await changeProject(project, { builds_enabled: 'true' });
  t.is((await claim(specific)).body.id, second.id);
});

test('a project that is being deleted has no builds for its runners', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  await make.build(project);
  await rows('update projects set pending_delete = true where id = $1', [project.id]);
  t.is((await claim(runner)).status, 404);
});

test('a build that was canceled while it waited is not handed out', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project);
  await call('POST', `/api/v3/projects/${project.id}/builds/${build.id}/cancel`, { as: rootToken });
  t.is((await claim(runner)).status, 404);
});

test('a claimed build is running, its runner and its start are known, and so is its pipeline', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project);
  await claim(runner);
  const [row] = await rows<object>(
    `select b.status, b.runner_id, b.started_at is not null as started, p.status as pipeline
     from builds b join pipelines p on p.id = b.pipeline_id where b.id = $1`,
    [build.id],
  );
  t.deepEqual(row, { status: 'running', runner_id: runner.id, started: true, pipeline: 'running' });
});

test('what is not set is not in the options, and the list of a plain job is short', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  await make.build(project, { job: { cache: {}, services: [], afterScript: [] } });
  const { body } = await claim(runner);
  t.deepEqual(body.options, {});
  t.deepEqual(body.depends_on_builds, []);
  t.false('artifacts_file' in body);
  await make.build(project, { job: { dependencies: [], image: 'ruby' } });
  t.deepEqual((await claim(runner)).body.options, { dependencies: [], image: 'ruby' });
});

test('the payload tells the build, the project and what to run', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ columns: { build_timeout: 77, allow_git_fetch: false } });
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, {
    ref: 'v1',
    tag: true,
    sha: 'b'.repeat(40),
    job: { name: 'compile', stage: 'build', script: ['make', 'make check'] },
  });
  const { body } = await claim(runner);
  t.like(body, {
    id: build.id,
    project_id: project.id,
    project_name: project.path,
    token: build.token,
    status: 'running',
    name: 'compile',
    stage: 'build',
    ref: 'v1',
    tag: true,
    sha: 'b'.repeat(40),
    before_sha: '0'.repeat(40),
    commands: 'make\nmake check',
    allow_git_fetch: false,
    timeout: 77,
    ext: { script: ['make', 'make check'] },
  });
  const url = new URL(body.repo_url);
  t.is(url.username, 'gitlab-ci-token');
  t.is(url.password, build.token);
  t.is(`${url.protocol}//${url.host}${url.pathname}`, `${holder.app.url}/${project.fullPath}.git`);
});

test('the clone address with its credentials opens the repository while the build is at work', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project);
  const { body } = await claim(runner);
  const { origin, pathname, username, password } = new URL(body.repo_url);
  const read = (credentials: string) =>
    fetch(`${origin}${pathname}/info/refs?service=git-upload-pack`, {
      headers: credentials === '' ? {} : { Authorization: `Basic ${btoa(credentials)}` },
    });
  t.is((await read('')).status, 401);
  t.is((await read(`${username}:${password}`)).status, 200);
  t.is((await read(`${username}:${password}x`)).status, 401);
  await rows(
    `update builds set status = 'failed', finished_at = now() - interval '11 minutes' where id = $1`,
    [build.id],
  );
  t.is((await read(`${username}:${password}`)).status, 401);
});

test('variables come under their old and new names; credentials are not public', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, {
    job: { variables: { COLOUR: 'red', REF: '$CI_BUILD_REF', CI_BUILD_TOKEN: 'stolen' } },
  });
  const { body } = await claim(runner);
  const values = new Map(body.variables.map((variable) => [variable.key, variable]));
  const pairs = {
    CI_BUILD_ID: 'CI_JOB_ID',
    CI_BUILD_NAME: 'CI_JOB_NAME',
    CI_BUILD_STAGE: 'CI_JOB_STAGE',
    CI_BUILD_REF: 'CI_COMMIT_SHA',
    CI_BUILD_BEFORE_SHA: 'CI_COMMIT_BEFORE_SHA',
    CI_BUILD_REF_NAME: 'CI_COMMIT_REF_NAME',
    CI_BUILD_TOKEN: 'CI_JOB_TOKEN',
    CI_BUILD_REPO: 'CI_REPOSITORY_URL',
  };
  for (const [old, now] of Object.entries(pairs)) {
    t.truthy(values.get(old)?.value, old);
    t.is(values.get(now)?.value, values.get(old)?.value, now);
  }
  t.is(values.get('CI_BUILD_ID')?.value, String(build.id));
  t.is(values.get('CI_BUILD_TOKEN')?.value, build.token);
  t.is(values.get('CI_BUILD_REPO')?.value, body.repo_url);
  t.deepEqual(values.get('COLOUR'), { key: 'COLOUR', value: 'red', public: true });
  t.is(values.get('REF')?.value, '$CI_BUILD_REF', 'sent as written, expanded by the runner');
  const hidden = body.variables.filter((variable) => !variable.public).map((variable) => variable.key);
  t.deepEqual(hidden.sort(), ['CI_BUILD_REPO', 'CI_BUILD_TOKEN', 'CI_JOB_TOKEN', 'CI_REPOSITORY_URL']);
});

/** @returns the status of the answer. */
async function uploadArchive(build: { id: number; token: string }): Promise<number> {
  const form = new FormData();
  form.append('file', new Blob(['the archive']), 'out.zip');
  const stored = await fetch(`${holder.app.url}/ci/api/v1/builds/${build.id}/artifacts`, {
    method: 'POST',
    headers: { 'BUILD-TOKEN': build.token },
    body: form,
  });
  return stored.status;
}

test('dependencies are the newest builds of earlier stages, and their token opens their artifacts', async (t) => {
  const { make, rows, call } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const old = await make.build(project, {
    status: 'failed',
    job: { name: 'compile', stage: 'build', stageIndex: 0 },
    columns: { latest: false },
  });
  const pipelineId = old.pipelineId;
  const compile = await make.build(project, {
    status: 'running',
    runner,
    pipelineId,
    job: { name: 'compile', stage: 'build', stageIndex: 0 },
  });
  const lint = await make.build(project, {
    status: 'success',
    pipelineId,
    job: { name: 'lint', stage: 'build', stageIndex: 0 },
  });
  t.is(await uploadArchive(compile), 201);
  await rows(`update builds set status = 'success', finished_at = now() where id = $1`, [compile.id]);
  const user = await make.build(project, { pipelineId, job: { name: 'use', stageIndex: 1 } });
  await make.build(project, { pipelineId, job: { name: 'beside', stageIndex: 1 } });
  const { body } = await claim(runner);
  t.is(body.id, user.id);
  t.notThrows(() => checkPayload(body));
  t.deepEqual(
    body.depends_on_builds.map(({ id, name, status, artifacts_file }) => ({
      id,
      name,
      status,
      artifacts_file,
    })),
    [
      {
        id: compile.id,
        name: 'compile',
        status: 'success',
        artifacts_file: { filename: 'out.zip', size: 11 },
      },
      { id: lint.id, name: 'lint', status: 'success', artifacts_file: undefined },
    ],
  );
  const [dependency] = body.depends_on_builds;
  const path = `/ci/api/v1/builds/${compile.id}/artifacts`;
  const headers = { 'BUILD-TOKEN': dependency?.token ?? '' };
  t.is((await call('GET', path, { headers })).body, 'the archive');
  // It reads, and neither writes nor reaches into another project.
  t.is((await call('DELETE', path, { headers })).status, 403);
  const elsewhere = await make.build(await make.project(), { status: 'success' });
  t.is((await call('GET', `/ci/api/v1/builds/${elsewhere.id}/artifacts`, { headers })).status, 403);
  await rows(
    `update builds set status = 'success', finished_at = now() - interval '11 minutes' where id = $1`,
    [user.id],
  );
  t.is((await call('GET', path, { headers })).status, 403, 'after the build has ended');
});

test('artifacts that have expired are not offered to later builds', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const first = await make.build(project, {
    status: 'success',
    job: { name: 'first', stageIndex: 0 },
    columns: {
      artifacts_key: 'artifacts/1/x.zip',
      artifacts_filename: 'x.zip',
      artifacts_size: 1,
      artifacts_expire_at: new Date('2016-01-01'),
    },
  });
  await make.build(project, { pipelineId: first.pipelineId });
  const { body } = await claim(runner);
  t.deepEqual(Object.keys(body.depends_on_builds[0] ?? {}).includes('artifacts_file'), false);
});
