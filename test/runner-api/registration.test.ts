import test from 'ava';
import { registrationToken, rootToken, withApp } from '../support/app.ts';

const holder = withApp();

interface Registered {
  id: number;
  token: string;
}

interface RunnerRow {
  is_shared: boolean;
  active: boolean;
  locked: boolean;
  run_untagged: boolean;
  tag_list: string[];
  description: string | null;
  name: string | null;
  version: string | null;
  platform: string | null;
  contacted_at: Date | null;
}

function ci<T = unknown>(method: string, path: string, json: unknown) {
  return holder.app.call<T>(method, `/ci/api/v1${path}`, { json });
}

async function runnerRow(id: number): Promise<RunnerRow | undefined> {
  return (await holder.app.rows<RunnerRow>('select * from runners where id = $1', [id]))[0];
}

test('the token of the instance makes a shared runner, with what was said of it', async (t) => {
  const answer = await ci<Registered>('POST', '/runners/register.json', {
    info: {
      name: 'gitlab-ci-multi-runner',
      version: '1.11.5',
      revision: 'cbfcb5c8b',
      platform: 'linux',
      architecture: 'amd64',
      features: { variables: false, image: false },
    },
    token: registrationToken,
    description: 'my runner',
    tag_list: 'ruby, mysql , ',
    run_untagged: false,
    locked: true,
  });
  t.is(answer.status, 201);
  t.deepEqual(Object.keys(answer.body).sort(), ['id', 'token']);
  t.regex(answer.body.token, /^[0-9a-f]{30}$/);
  const row = await runnerRow(answer.body.id);
  t.like(row, {
    is_shared: true,
    active: true,
    locked: true,
    run_untagged: false,
    tag_list: ['ruby', 'mysql'],
    description: 'my runner',
    name: 'gitlab-ci-multi-runner',
    version: '1.11.5',
    platform: 'linux',
    contacted_at: null,
  });
});

test('the token of a project makes a runner of that project alone', async (t) => {
  const project = await holder.app.make.project();
  const answer = await ci<Registered>('POST', '/runners/register', {
    token: project.runnersToken,
    tag_list: ['a', 'b'],
  });
  t.is(answer.status, 201);
  t.like(await runnerRow(answer.body.id), { is_shared: false, run_untagged: true, tag_list: ['a', 'b'] });
  const projects = await holder.app.rows('select project_id from runner_projects where runner_id = $1', [
    answer.body.id,
  ]);
  t.deepEqual(projects, [{ project_id: project.id }]);
});

test('tokens of runners are stored by digest and sealed, never as they are', async (t) => {
  const { body } = await ci<Registered>('POST', '/runners/register', { token: registrationToken });
  const [row] = await holder.app.rows<{ all: string }>(
    'select (r.*)::text as all from runners r where id = $1',
    [body.id],
  );
  t.false(row?.all.includes(body.token));
  t.false(row?.all.includes(Buffer.from(body.token).toString('hex')));
});

test('a registration without a token, with a wrong one, and with the wrong kind of token', async (t) => {
  const { make } = holder.app;
  const absent = await ci('POST', '/runners/register', { description: 'x' });
  t.is(absent.status, 400);
  t.deepEqual(absent.body, { message: '400 (Bad request) "token" not given' });
  const runner = await make.runner();
  const gone = await make.project({ columns: { pending_delete: true } });
  for (const token of ['wrong', runner.token, rootToken, gone.runnersToken]) {
    t.is((await ci('POST', '/runners/register', { token })).status, 403);
  }
});

test('a runner that could never get a build is refused', async (t) => {
  for (const tag_list of [undefined, '', ' , ', []]) {
    const json = { token: registrationToken, run_untagged: false, tag_list };
    const answer = await ci('POST', '/runners/register', json);
    t.is(answer.status, 400);
    t.deepEqual(Object.keys((answer.body as { message: object }).message), ['tag_list']);
  }
});

test('a removed runner is gone, and an unknown one is told so', async (t) => {
  const runner = await holder.app.make.runner();
  t.is((await ci('DELETE', '/runners/delete', {})).status, 400);
  t.is((await ci('DELETE', '/runners/delete', { token: 'wrong' })).status, 403);
  t.is((await ci('DELETE', '/runners/delete', { token: runner.token })).status, 200);
  t.is((await ci('DELETE', '/runners/delete', { token: runner.token })).status, 403);
  t.is((await ci('POST', '/builds/register', { token: runner.token })).status, 403);
});

test('what a removed runner was running fails at once, and the stage goes on from there', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const first = await make.build(project, { status: 'running', runner, job: { stageIndex: 0 } });
  const done = await make.build(project, { status: 'success', runner });
  await rows(
    `insert into pipeline_jobs (pipeline_id, position, name, definition) select pipeline_id, 100000, 'clean up',
       definition || '{"name": "clean up", "stage": "end", "stageIndex": 2, "when": "on_failure"}'
     from pipeline_jobs where id = $1`,
    [first.jobId],
  );
  await ci('DELETE', '/runners/delete', { token: runner.token });
  const builds = await rows(
    `select b.status, failure_reason, finished_at is not null as ended, r.id as runner
     from builds b left join runners r on r.id = b.runner_id where b.id = any($1) order by b.id`,
    [[first.id, done.id]],
  );
  t.deepEqual(builds, [
    { status: 'failed', failure_reason: 'runner_system_failure', ended: true, runner: null },
    { status: 'success', failure_reason: null, ended: true, runner: null },
  ]);
  const next = await rows('select name, status from builds where pipeline_id = $1 and id > $2', [
    first.pipelineId,
    first.id,
  ]);
  t.deepEqual(next, [{ name: 'clean up', status: 'pending' }]);
});

test('claims and reports: no token is 400, a wrong one 403, never 401', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, { status: 'running', runner });
  const notRunners = ['wrong', build.token, project.runnersToken, rootToken, registrationToken];
  for (const [method, path] of [
    ['POST', '/builds/register'],
    ['PUT', `/builds/${build.id}`],
  ] as const) {
    for (const json of [{}, { token: '' }, { token: null }]) {
      const answer = await ci(method, path, json);
      t.is(answer.status, 400, path);
      t.deepEqual(answer.body, { message: '400 (Bad request) "token" not given' });
    }
    for (const token of notRunners) t.is((await ci(method, path, { token })).status, 403, path);
  }
});

test('traces and artifacts: an unknown build is 404 before the token is looked at, then 403', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const runner = await app.make.runner({ projects: [project] });
  const build = await app.make.build(project, { status: 'running', runner });
  const other = await app.make.build(project, { status: 'running', runner });
  const stranger = await app.make.project();
  const calls = [
    ['PATCH', 'trace.txt'],
    ['POST', 'artifacts'],
    ['GET', 'artifacts'],
    ['DELETE', 'artifacts'],
  ] as const;
  const wrong = [
    '',
    'wrong',
    runner.token,
    stranger.runnersToken,
    rootToken,
    `${build.id}-${'A'.repeat(24)}`,
  ];
  for (const [method, path] of calls) {
    for (const id of ['2000000000', '99999999999', 'x']) {
      const answer = await app.call(method, `/ci/api/v1/builds/${id}/${path}`, {
        headers: { 'BUILD-TOKEN': 'wrong' },
      });
      t.is(answer.status, 404, `${method} ${id}`);
    }
    const tokens = method === 'GET' ? wrong : [...wrong, other.token];
    for (const token of tokens) {
      const answer = await app.call(method, `/ci/api/v1/builds/${build.id}/${path}`, {
        headers: {
          'BUILD-TOKEN': token,
          'Content-Range': '0-0',
          'Content-Type': 'multipart/form-data; boundary=x',
        },
        ...(method === 'POST' ? { body: '--x--\r\n' } : {}),
      });
      t.is(answer.status, 403, `${method} ${path} with ${token}`);
    }
  }
});

test('the token of a build and that of its project are both good, as parameter or header; the parameter wins', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const runner = await app.make.runner({ projects: [project] });
  const build = await app.make.build(project, { status: 'running', runner });
  const path = `/ci/api/v1/builds/${build.id}/trace.txt`;
  const part = { 'Content-Range': '0-0' };
  for (const token of [build.token, project.runnersToken]) {
    const asHeader = await app.call('PATCH', path, { headers: { ...part, 'BUILD-TOKEN': token } });
    t.is(asHeader.status, 202);
    const query = { token };
    t.is((await app.call('PATCH', path, { headers: part, query })).status, 202);
    const both = { ...part, 'BUILD-TOKEN': 'wrong' };
    t.is((await app.call('PATCH', path, { headers: both, query })).status, 202);
    const reverse = { ...part, 'BUILD-TOKEN': token };
    t.is((await app.call('PATCH', path, { headers: reverse, query: { token: 'wrong' } })).status, 403);
  }
});

test('a poll says that the runner is alive and what it is; it writes at most once a minute', async (t) => {
  const runner = await holder.app.make.runner({ tags: ['never-used'], runUntagged: false });
  const poll = (version: string) =>
    ci('POST', '/builds/register', { token: runner.token, info: { version, executor: 'shell' } });
  await poll('1.5.3');
  const first = await runnerRow(runner.id);
  t.is(first?.version, '1.5.3');
  t.truthy(first?.contacted_at);
  await poll('1.5.3');
  t.deepEqual((await runnerRow(runner.id))?.contacted_at, first?.contacted_at);
  await poll('1.6.0');
  t.is((await runnerRow(runner.id))?.version, '1.6.0');
  await holder.app.rows(`update runners set contacted_at = now() - interval '2 minutes' where id = $1`, [
    runner.id,
  ]);
  await ci('PUT', '/builds/-1', { token: runner.token });
  t.is(
    (await runnerRow(runner.id))?.version,
    '1.6.0',
    'a report that says nothing of itself changes nothing',
  );
});
