import test from 'ava';
import type { BuildPayload } from '../../shared/protocol/build.ts';
import { registrationToken, rootToken, withApp } from '../support/app.ts';
import { checkPayload } from '../support/go-payload.ts';
import type { MadeBuild, MadeProject, MadeRunner } from '../support/make.ts';
import { form, formType, type RawRequest, rawHttp } from '../support/raw-http.ts';

const holder = withApp();

function ci<T = unknown>(method: string, path: string, request?: RawRequest) {
  return rawHttp<T>(`${holder.app.url}/ci/api/v1${path}`, method, request);
}

/** A runner, its project and a build that it runs. */
async function running(): Promise<{ project: MadeProject; runner: MadeRunner; build: MadeBuild }> {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, { status: 'running', runner });
  return { project, runner, build };
}

function patch(build: MadeBuild, range: string, body: string | Buffer) {
  const headers = { 'Build-Token': build.token, 'Content-Range': range, 'Content-Type': 'text/plain' };
  return ci('PATCH', `/builds/${build.id}/trace.txt`, { headers, body });
}

function put(build: { id: number }, json: Record<string, unknown>) {
  return ci('PUT', `/builds/${build.id}.json`, { json });
}

async function traceOf(project: MadeProject, build: MadeBuild): Promise<string> {
  const path = `/api/v3/projects/${project.id}/builds/${build.id}/trace`;
  return (await holder.app.call<string>('GET', path, { as: rootToken })).body;
}

async function cancel(project: MadeProject, build: MadeBuild): Promise<void> {
  await holder.app.call('POST', `/api/v3/projects/${project.id}/builds/${build.id}/cancel`, {
    as: rootToken,
  });
}

function upload(build: MadeBuild, content: string | Buffer) {
  const headers = { 'Build-Token': build.token, 'Content-Type': formType };
  const body = form([{ name: 'file', filename: 'artifacts.zip', content }]);
  return ci('POST', `/builds/${build.id}/artifacts?`, { headers, body });
}

test('1: the content type is application/json and nothing after it, with good and bad news', async (t) => {
  const { project, runner, build } = await running();
  await holder.app.make.build(project);
  const answers = [
    await ci('POST', '/builds/register.json', { json: { token: runner.token } }),
    await ci('POST', '/builds/register.json', { json: { token: runner.token } }),
    await ci('POST', '/builds/register.json', { json: { token: 'wrong' } }),
    await ci('POST', '/runners/register.json', { json: { token: registrationToken } }),
    await put(build, { token: runner.token, state: 'running' }),
    await patch(build, '0-2', 'ab'),
    await patch(build, '7-9', 'ab'),
    await upload(build, 'zip'),
    await ci('PUT', '/builds/-1', { json: { token: runner.token } }),
    await ci('DELETE', '/runners/delete', { json: { token: runner.token } }),
  ];
  const statuses = [201, 404, 403, 201, 200, 202, 416, 201, 404, 200];
  t.deepEqual(
    answers.map((answer) => answer.status),
    statuses,
  );
  for (const answer of answers) t.is(answer.headers['content-type'], 'application/json');
});

test('2: each success has the one status that a runner compares with', async (t) => {
  const { project, runner } = await running();
  await holder.app.make.build(project);
  const registered = await ci<{ token: string }>('POST', '/runners/register', {
    json: { token: registrationToken },
  });
  t.is(registered.status, 201);
  const claimed = await ci<BuildPayload>('POST', '/builds/register', { json: { token: runner.token } });
  t.is(claimed.status, 201);
  const build = { ...claimed.json, pipelineId: 0, jobId: 0 };
  t.is((await put(build, { token: runner.token, state: 'running' })).status, 200);
  t.is((await patch(build, '0-1', 'a')).status, 202);
  t.is((await upload(build, 'zip')).status, 201);
  const headers = { 'Build-Token': build.token };
  t.is((await ci('GET', `/builds/${build.id}/artifacts`, { headers })).status, 200);
  t.is((await put(build, { token: runner.token, state: 'success' })).status, 200);
  const { token } = registered.json;
  t.is((await ci('DELETE', '/runners/delete', { json: { token } })).status, 200);
});

test('3: a .json at the end of the path may be there or not', async (t) => {
  const { project, runner } = await running();
  for (const end of ['', '.json']) {
    await holder.app.make.build(project);
    const claimed = await ci<BuildPayload>('POST', `/builds/register${end}`, {
      json: { token: runner.token },
    });
    t.is(claimed.status, 201, end);
    const update = { json: { token: runner.token, state: 'success' } };
    t.is((await ci('PUT', `/builds/${claimed.json.id}${end}`, update)).status, 200, end);
    const request = { json: { token: registrationToken } };
    t.is((await ci('POST', `/runners/register${end}`, request)).status, 201, end);
  }
});

test('4: parameters come as JSON, form or query, on DELETE too', async (t) => {
  const { make } = holder.app;
  const ways: ((token: string) => Promise<{ status: number }>)[] = [
    (token) => ci('DELETE', '/runners/delete', { json: { token } }),
    (token) => ci('DELETE', `/runners/delete?token=${token}`),
    (token) =>
      ci('DELETE', '/runners/delete', {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `token=${token}`,
      }),
    (token) =>
      ci('DELETE', '/runners/delete', {
        headers: { 'Content-Type': formType },
        body: form([{ name: 'token', content: token }]),
      }),
  ];
  for (const [index, way] of ways.entries()) {
    const runner = await make.runner();
    t.is((await way(runner.token)).status, 200, `way ${index}`);
    t.is((await ci('PUT', '/builds/-1', { json: { token: runner.token } })).status, 403, `way ${index}`);
  }
});

test('5: the payload has exactly the types that a Go program can read', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ columns: { build_timeout: 1800 } });
  const runner = await make.runner({ projects: [project] });
  await make.build(project, {
    job: {
      script: ['echo 1', 'echo 2'],
      afterScript: ['echo after'],
      image: 'ruby:2.3',
      services: ['mysql:5.7'],
      variables: { NUMBER: '1' },
      dependencies: [],
      artifacts: { name: 'a', untracked: true, paths: ['x'], when: 'always', expire_in: '7d' },
      cache: { key: 'k', untracked: false, paths: ['y'] },
    },
  });
  const claimed = await ci('POST', '/builds/register', { json: { token: runner.token } });
  t.is(claimed.status, 201);
  t.notThrows(() => checkPayload(claimed.json));
});

test('6: sha and before_sha have 40 digits, which a runner slices', async (t) => {
  const { project, runner } = await running();
  await holder.app.make.build(project, { sha: 'c'.repeat(40) });
  const claimed = await ci<BuildPayload>('POST', '/builds/register', { json: { token: runner.token } });
  t.is(claimed.json.sha, 'c'.repeat(40));
  t.is(claimed.json.before_sha, '0'.repeat(40));
});

test('7: a final report is answered 200, 403 or 404, whatever it holds and however the build stands', async (t) => {
  const { make } = holder.app;
  const { project, runner, build } = await running();
  const token = runner.token;
  const odd = { name: 7, version: 'x'.repeat(300), platform: 'a\0b' };
  const nul = { token, state: 'failed', trace: 'a\0b\ud800c', info: odd };
  t.is((await put(build, nul)).status, 200, 'NUL, half a character and odd info');
  t.is(await traceOf(project, build), 'a\0b\ufffdc');
  t.is((await put(build, nul)).status, 200, 'the same again');
  t.is((await put(build, { token, state: 'success' })).status, 404, 'another end');
  const canceled = await make.build(project, { status: 'running', runner });
  await cancel(project, canceled);
  t.is((await put(canceled, { token, state: 'success', trace: 'x' })).status, 404, 'canceled');
  const erased = await make.build(project, { status: 'failed', runner });
  await holder.app.call('POST', `/api/v3/projects/${project.id}/builds/${erased.id}/erase`, {
    as: rootToken,
  });
  t.is((await put(erased, { token, state: 'failed', trace: 'x' })).status, 403, 'erased');
  t.is((await put({ id: 2_000_000_000 }, { token, state: 'success' })).status, 404, 'unknown');
  t.is((await put({ id: 99_999_999_999 }, { token, state: 'success' })).status, 404, 'no id at all');
  const other = await make.build(project, { status: 'running', runner: await make.runner() });
  t.is((await put(other, { token, state: 'success' })).status, 404, 'of another runner');
  await ci('DELETE', '/runners/delete', { json: { token } });
  t.is((await put(build, { token, state: 'success' })).status, 403, 'of a removed runner');
});

test('8: 416 always tells the stored length', async (t) => {
  const { build } = await running();
  t.is((await patch(build, '5-8', 'abc')).headers.range, '0-0');
  await patch(build, '0-3', 'abc');
  for (const range of ['0-3', '2-5', '4-7', '999999-1000002']) {
    const answer = await patch(build, range, 'abc');
    t.is(answer.status, 416, range);
    t.is(answer.headers.range, '0-3', range);
  }
});

test('9: the stored trace is never longer than what was sent, secrets and all', async (t) => {
  const { project, runner, build } = await running();
  const sent = `token ${build.token} and ${project.runnersToken}\n`;
  const answer = await patch(build, `0-${sent.length}`, sent);
  t.is(answer.headers.range, `0-${sent.length}`);
  const read = await traceOf(project, build);
  t.is(read.length, sent.length);
  t.false(read.includes(build.token));
  t.false(read.includes(project.runnersToken));
  // The next runner of a build that was given back starts at 0.
  await put(build, { token: runner.token, state: 'pending' });
  const again = await ci<BuildPayload>('POST', '/builds/register', { json: { token: runner.token } });
  t.is(again.json.id, build.id);
  t.is((await patch(build, '0-2', 'ab')).headers.range, '0-2');
});

test('10: the end of a Content-Range is not looked at', async (t) => {
  const { project, build } = await running();
  let start = 0;
  for (const range of ['A-3', 'A-2', 'bytes A-1', 'bytes A-9/*', 'bytes A-0/77', 'A-99999', 'A-']) {
    const answer = await patch(build, range.replace('A', String(start)), 'abc');
    start += 3;
    t.is(answer.status, 202, range);
    t.is(answer.headers.range, `0-${start}`, range);
  }
  t.is(await traceOf(project, build), 'abc'.repeat(7));
  for (const range of ['x-3', '-3', 'bytes=0-3', '']) {
    t.is((await patch(build, range, 'abc')).status, 400, range);
  }
});

test('11: an empty part is a sign of life', async (t) => {
  const { build } = await running();
  await patch(build, '0-3', 'abc');
  const answer = await patch(build, '3-3', '');
  t.is(answer.status, 202);
  t.is(answer.headers.range, '0-3');
  t.is(answer.headers['build-status'], 'running');
});

test('12: a quick build sends nothing but its end', async (t) => {
  const { project, runner, build } = await running();
  t.is((await put(build, { token: runner.token, state: 'success', trace: 'done\n' })).status, 200);
  t.is(await traceOf(project, build), 'done\n');
  const [row] = await holder.app.rows<{ status: string }>('select status from builds where id = $1', [
    build.id,
  ]);
  t.is(row?.status, 'success');
});

test('13: the final report carries the whole trace and replaces what was stored', async (t) => {
  const { project, runner, build } = await running();
  await patch(build, '0-11', 'first part\n');
  await put(build, { token: runner.token, state: 'failed', trace: 'the whole\n' });
  t.is(await traceOf(project, build), 'the whole\n');
});

test('14: a report may have 32 MiB of escaped JSON, a part of a trace 8 MiB', async (t) => {
  const { runner, build } = await running();
  const part = Buffer.alloc(8 * 1024 * 1024, 'x');
  t.is((await patch(build, `0-${part.length}`, part)).headers.range, `0-${part.length}`);
  const escaped = '\\u001b'.repeat(5_500_000);
  const body = `{"token":"${runner.token}","state":"success","trace":"${escaped}"}`;
  t.true(body.length > 31.4 * 1024 * 1024);
  const headers = { 'Content-Type': 'application/json' };
  t.is((await ci('PUT', `/builds/${build.id}.json`, { headers, body })).status, 200);
  const [row] = await holder.app.rows<{ length: string }>('select length from traces where build_id = $1', [
    build.id,
  ]);
  t.is(Number(row?.length), 5_500_000);
});

test('15: a part for a canceled build is taken, and tells so', async (t) => {
  const { project, build } = await running();
  await patch(build, '0-3', 'abc');
  await cancel(project, build);
  const answer = await patch(build, '3-6', 'def');
  t.is(answer.status, 202);
  t.is(answer.headers['build-status'], 'canceled');
  t.is(answer.headers.range, '0-6');
});

test('16: a paused runner gets 404, and a build once it is active again', async (t) => {
  const { project, runner } = await running();
  await holder.app.make.build(project);
  const pause = (active: string) =>
    holder.app.call('PUT', `/api/v3/runners/${runner.id}`, { as: rootToken, form: { active } });
  await pause('false');
  const answer = await ci('POST', '/builds/register', { json: { token: runner.token } });
  t.is(answer.status, 404);
  t.deepEqual(answer.json, { message: '404 Not Found' });
  await pause('true');
  t.is((await ci('POST', '/builds/register', { json: { token: runner.token } })).status, 201);
});

test('17: an upload comes in chunks, without a length', async (t) => {
  const { build } = await running();
  async function* content() {
    for (let index = 0; index < 40; index += 1) yield Buffer.alloc(30_000, index);
  }
  const answer = await ci<{ artifacts_file: unknown }>('POST', `/builds/${build.id}/artifacts?`, {
    headers: { 'Build-Token': build.token, 'Content-Type': formType },
    body: form([{ name: 'file', filename: 'artifacts.zip', content: content() }]),
  });
  t.is(answer.status, 201);
  t.deepEqual(answer.json.artifacts_file, { filename: 'artifacts.zip', size: 1_200_000 });
});

test.serial('18: what must not be tried again is refused with 403 or 413', async (t) => {
  const { project, build } = await running();
  await holder.app.rows('update settings set max_artifacts_size = 1');
  t.is((await upload(build, Buffer.alloc(1024 * 1024))).status, 413);
  await holder.app.rows('update settings set max_artifacts_size = 100');
  t.is((await upload({ ...build, token: 'wrong' }, 'zip')).status, 403);
  await cancel(project, build);
  t.is((await upload(build, 'zip')).status, 403);
});

test('19: builds/-1 tells a runner that it is alive, or was removed', async (t) => {
  const runner = await holder.app.make.runner();
  const alive = await ci('PUT', '/builds/-1', { json: { token: runner.token } });
  t.is(alive.status, 404);
  t.deepEqual(alive.json, { message: '404 Not found' });
  t.is((await ci('PUT', '/builds/-1', { json: { token: 'wrong' } })).status, 403);
  t.is((await ci('PUT', '/builds/-1', { json: {} })).status, 400);
  await ci('DELETE', '/runners/delete', { json: { token: runner.token } });
  t.is((await ci('PUT', '/builds/-1', { json: { token: runner.token } })).status, 403);
});

test('20: of two runners that ask for one build, one gets it and the other gets none', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runners = [await make.runner({ projects: [project] }), await make.runner({ projects: [project] })];
  await make.build(project);
  const answers = await Promise.all(
    runners.map(({ token }) => ci('POST', '/builds/register', { json: { token } })),
  );
  t.deepEqual(answers.map((answer) => answer.status).sort(), [201, 404]);
});
