import { Readable } from 'node:stream';
import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { buildStatuses } from '../../shared/build-status.ts';
import { git } from '../git/real-git.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();

type Build = Record<string, unknown> & { id: number; status: string };

function pathOf(project: { id: number }, rest = ''): string {
  return `/api/v3/projects/${project.id}/builds${rest}`;
}

async function ids(project: MadeProject, query = ''): Promise<number[]> {
  const answer = await holder.app.call<Build[]>('GET', `${pathOf(project)}${query}`, {
    as: project.owner.token,
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.map(({ id }) => id);
}

async function oneOfEach(project: MadeProject): Promise<Record<string, number>> {
  const made: Record<string, number> = {};
  for (const status of buildStatuses) made[status] = (await holder.app.make.build(project, { status })).id;
  return made;
}

test('the list: newest first, of this project only, in pages', async (t) => {
  const { make, call } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  const made = [];
  for (let count = 0; count < 3; count += 1) {
    made.unshift((await make.build(project)).id);
    await make.build(other);
  }
  t.deepEqual(await ids(project), made);
  t.deepEqual(await ids(project, '?per_page=2'), made.slice(0, 2));
  t.deepEqual(await ids(project, '?per_page=2&page=2'), made.slice(2));
  const { headers } = await call('GET', pathOf(project), { as: rootToken });
  t.is(headers.get('x-total'), '3');
});

test('scope: one word or several, in every form; blank is none', async (t) => {
  const project = await holder.app.make.project();
  const made = await oneOfEach(project);
  const of = (...statuses: string[]) => statuses.map((status) => made[status] ?? 0).sort((a, b) => b - a);
  for (const status of buildStatuses) t.deepEqual(await ids(project, `?scope=${status}`), of(status));
  const two = of('pending', 'running');
  for (const query of [
    'scope[]=pending&scope[]=running',
    'scope%5B%5D=running&scope%5B%5D=pending',
    'scope[0]=pending&scope[1]=running',
    'scope=pending&scope=running',
    'scope=pending,running',
    'scope[]=pending&scope[]=running&scope[]=skipped',
  ]) {
    t.deepEqual(await ids(project, `?${query}`), two, query);
  }
  t.deepEqual(await ids(project, '?scope=skipped'), []);
  for (const query of ['?scope=', '?scope[]=', '']) t.is((await ids(project, query)).length, 5, query);
  const sent = { as: project.owner.token, query: { 'scope[]': 'failed' } };
  const answer = await holder.app.call('GET', pathOf(project), sent);
  t.is(answer.headers.get('x-total'), '1');
});

test('a scope with an unknown word', async (t) => {
  const project = await holder.app.make.project();
  for (const query of ['scope=done', 'scope[]=pending&scope[]=done', 'scope=Pending']) {
    const answer = await holder.app.call('GET', `${pathOf(project)}?${query}`, { as: project.owner.token });
    t.is(answer.status, 400, query);
    t.deepEqual(answer.body, { message: 'Scope contains invalid value(s)' });
  }
});

const fullBuild = {
  status: 'success',
  ref: 'v1',
  tag: true,
  sha: 'b'.repeat(40),
  job: { name: 'rspec: 1 2', stage: 'deploy' },
  columns: { coverage: 98.5, artifacts_key: 'x', artifacts_filename: 'a.zip', artifacts_size: 3e9 },
} as const;

test('a build in full', async (t) => {
  const { make, call, url } = holder.app;
  const project = await make.project();
  const user = await make.user();
  const runner = await make.runner();
  const build = await make.build(project, {
    ...fullBuild,
    runner,
    columns: { ...fullBuild.columns, user_id: user.id },
  });
  const { status, body } = await call<Build>('GET', pathOf(project, `/${build.id}`), {
    as: project.owner.token,
  });
  t.is(status, 200);
  const { created_at, started_at, finished_at, ...rest } = body;
  for (const time of [created_at, started_at, finished_at]) t.regex(String(time), /^\d{4}-.*T.*\.\d{3}Z$/);
  t.deepEqual(rest, {
    id: build.id,
    name: 'rspec: 1 2',
    stage: 'deploy',
    status: 'success',
    ref: 'v1',
    tag: true,
    coverage: 98.5,
    artifacts_file: { filename: 'a.zip', size: 3_000_000_000 },
    commit: {
      id: 'b'.repeat(40),
      short_id: 'bbbbbbbb',
      title: 'A commit',
      message: 'A commit\n\nwith a body\n',
      author_name: 'Ada',
      author_email: 'ada@example.com',
      created_at: '2016-01-07T12:44:33+01:00',
    },
    runner: {
      id: runner.id,
      description: `${(rest.runner as { description: string }).description}`,
      active: true,
      is_shared: true,
      name: null,
    },
    user: { ...(rest.user as object) },
  } as never);
  t.like(rest.user, {
    id: user.id,
    username: user.username,
    web_url: `${url}/u/${user.username}`,
    bio: null,
  });
  t.false('email' in (rest.user as object));
  const [listed] = (await call<Build[]>('GET', pathOf(project), { as: project.owner.token })).body;
  t.deepEqual(listed, body);
});

test('what a build has not is null, and there', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project();
  const build = await make.build(project);
  const { body } = await call<Build>('GET', pathOf(project, `/${build.id}`), { as: project.owner.token });
  t.like(body, {
    status: 'pending',
    coverage: null,
    runner: null,
    user: null,
    artifacts_file: null,
    started_at: null,
    finished_at: null,
  });
  await holder.app.rows('update pipelines set commit = null where id = $1', [build.pipelineId]);
  const bare = await call<Build>('GET', pathOf(project, `/${build.id}`), { as: project.owner.token });
  t.is(bare.body.commit, null);
});

const reads = ['', '/:id', '/:id/trace', '/:id/artifacts'];
const writes = ['/:id/cancel', '/:id/retry', '/:id/erase'];

test('reading: reporters, and strangers where builds are public', async (t) => {
  const { make, call } = holder.app;
  const hidden = await make.project();
  const open = await make.project({ visibility: 'public' });
  const closed = await make.project({ visibility: 'internal', columns: { public_builds: false } });
  const stranger = await make.user();
  const cases: [MadeProject, string, number][] = [
    [hidden, (await make.member(hidden, 'guest')).token, 403],
    [hidden, (await make.member(hidden, 'reporter')).token, 200],
    [hidden, stranger.token, 404],
    [open, stranger.token, 200],
    [closed, stranger.token, 403],
    [closed, (await make.member(closed, 'guest')).token, 403],
    [closed, (await make.member(closed, 'reporter')).token, 200],
    [hidden, 'wrong', 401],
  ];
  for (const [project, as, status] of cases) {
    const key = `artifacts/right/${project.id}`;
    await holder.app.services.storage.put(key, Readable.from([Buffer.from('zip')]));
    const columns = { artifacts_key: key, artifacts_filename: 'a.zip', artifacts_size: 3 };
    const build = await make.build(project, { columns });
    for (const read of reads) {
      const answer = await call('GET', pathOf(project, read.replace(':id', String(build.id))), { as });
      t.is(answer.status, status, read);
    }
  }
});

test('changing: developers', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const cases = [
    [(await make.member(project, 'reporter')).token, 403],
    [(await make.user()).token, 403],
    [(await make.member(project, 'developer')).token, 201],
    [undefined, 401],
  ] as const;
  for (const [as, status] of cases) {
    for (const write of writes) {
      const build = await make.build(project, { status: 'failed' });
      const answer = await call('POST', pathOf(project, write.replace(':id', String(build.id))), { as });
      t.is(answer.status, status, write);
    }
  }
});

test('a build of another project is not there, nor is one that never was', async (t) => {
  const { make, call } = holder.app;
  const owner = await make.user();
  const [project, other] = [await make.project({ owner }), await make.project({ owner })];
  const build = await make.build(other, { status: 'failed' });
  for (const id of [build.id, 999_999]) {
    for (const [method, rests] of [
      ['GET', reads.slice(1)],
      ['POST', writes],
    ] as const) {
      for (const rest of rests) {
        const path = pathOf(project, rest.replace(':id', String(id)));
        const answer = await call(method, path, { as: owner.token });
        t.is(answer.status, 404, path);
        t.deepEqual(answer.body, { message: '404 Not Found' });
      }
    }
  }
  const [row] = await holder.app.rows<{ status: string }>('select status from builds where id = $1', [
    build.id,
  ]);
  t.is(row?.status, 'failed');
});

test('artifacts come as they are, to be saved under their name', async (t) => {
  const { make, call, services } = holder.app;
  const project = await make.project();
  await services.storage.put('artifacts/test/1', Readable.from([Buffer.from('PK\u0003\u0004 bytes')]));
  const columns = {
    artifacts_key: 'artifacts/test/1',
    artifacts_filename: 'my "file".zip',
    artifacts_size: 11,
  };
  const build = await make.build(project, { status: 'success', columns });
  const get = () => call('GET', pathOf(project, `/${build.id}/artifacts`), { as: project.owner.token });
  const answer = await get();
  t.is(answer.status, 200);
  t.is(answer.body, 'PK\u0003\u0004 bytes');
  t.is(answer.headers.get('content-type'), 'application/octet-stream');
  t.is(answer.headers.get('content-disposition'), 'attachment; filename="my__file_.zip"');
  t.is(answer.headers.get('content-transfer-encoding'), 'binary');
  t.is(answer.headers.get('content-length'), '10');
  t.is((await get()).body, answer.body);
});

test('artifacts that are not there: never were, past their date, or lost', async (t) => {
  const { make, call, services } = holder.app;
  const project = await make.project();
  await services.storage.put('artifacts/test/2', Readable.from([Buffer.from('x')]));
  const there = { artifacts_key: 'artifacts/test/2', artifacts_filename: 'a.zip', artifacts_size: 1 };
  for (const columns of [
    {},
    { ...there, artifacts_expire_at: new Date(Date.now() - 60_000) },
    { ...there, artifacts_key: 'artifacts/test/lost' },
  ]) {
    const build = await make.build(project, { status: 'success', columns });
    const answer = await call('GET', pathOf(project, `/${build.id}/artifacts`), { as: project.owner.token });
    t.is(answer.status, 404);
    t.deepEqual(answer.body, { message: '404 Not Found' });
  }
  const later = await make.build(project, {
    columns: { ...there, artifacts_expire_at: new Date(Date.now() + 60_000) },
  });
  const answer = await call('GET', pathOf(project, `/${later.id}/artifacts`), { as: project.owner.token });
  t.is(answer.status, 200);
});

test('artifacts of a ref: of the job in its newest successful pipeline', async (t) => {
  const { make, call, services } = holder.app;
  const project = await make.project();
  const built = async (content: string, status: 'success' | 'failed', ref = 'feature/x', name = 'pack') => {
    const key = `artifacts/by-ref/${content}`;
    await services.storage.put(key, Readable.from([Buffer.from(content)]));
    const columns = { artifacts_key: key, artifacts_filename: `${content}.zip`, artifacts_size: 1 };
    const build = await make.build(project, { status, ref, job: { name }, columns });
    await holder.app.rows('update pipelines set status = $2 where id = $1', [build.pipelineId, status]);
  };
  await built('older', 'success');
  await built('newer', 'success');
  await built('broken', 'failed');
  await built('elsewhere', 'success', 'feature');
  await built('other-job', 'success', 'other', 'check');
  const get = (ref: string, query = '?job=pack') =>
    call('GET', pathOf(project, `/artifacts/${ref}/download${query}`), { as: project.owner.token });
  for (const ref of ['feature/x', 'feature%2Fx']) {
    const answer = await get(ref);
    t.is(answer.status, 200, ref);
    t.is(answer.body, 'newer');
    t.is(answer.headers.get('content-disposition'), 'attachment; filename="newer.zip"');
  }
  t.is((await get('feature')).body, 'elsewhere');
  for (const ref of ['master', 'other', 'feature/x/y']) {
    const answer = await get(ref);
    t.is(answer.status, 404, ref);
    t.deepEqual(answer.body as unknown, { message: '404 Not Found' });
  }
  const missing = await get('feature', '');
  t.is(missing.status, 400);
  t.deepEqual(missing.body as unknown, { message: '400 (Bad request) "job" not given' });
});

test('builds of a commit: of all its pipelines, found by the full hash alone', async (t) => {
  const { make, call, services } = holder.app;
  const project = await make.project();
  const dir = repositoryDir(services.repositoriesDir, project.id);
  const tree = await git(dir, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  const [sha, bare] = [
    await git(dir, 'commit-tree', '-m', 'One', tree),
    await git(dir, 'commit-tree', '-m', 'Two', tree),
  ];
  await git(dir, 'update-ref', 'refs/heads/master', sha);
  const first = await make.build(project, { sha, ref: 'master' });
  await make.build(project, { sha: 'c'.repeat(40) });
  const second = await make.build(project, { sha, ref: 'other', status: 'failed' });
  const other = await make.project();
  await make.build(other, { sha });
  const get = (of: string, query = '') =>
    call<Build[]>('GET', `/api/v3/projects/${project.id}/repository/commits/${of}/builds${query}`, {
      as: project.owner.token,
    });
  const found = await get(sha);
  t.deepEqual(
    found.body.map(({ id }) => id),
    [second.id, first.id],
  );
  t.is(found.headers.get('x-total'), '2');
  t.deepEqual(
    (await get(sha, '?scope[]=failed')).body.map(({ id }) => id),
    [second.id],
  );
  t.is((await get(sha, '?scope=wrong')).status, 400);
  t.deepEqual((await get(bare)).body, [], 'a commit without builds');
  for (const of of [
    'master',
    'HEAD',
    sha.slice(0, 8),
    'c'.repeat(40),
    tree,
    sha.toUpperCase(),
    `${sha}%0A`,
  ]) {
    const answer = await get(of);
    t.is(answer.status, 404, of);
    t.deepEqual(answer.body as unknown, { message: '404 Not Found' });
  }
  const guest = await make.member(project, 'guest');
  const refused = await call('GET', `/api/v3/projects/${project.id}/repository/commits/${sha}/builds`, {
    as: guest.token,
  });
  t.is(refused.status, 403);
});
