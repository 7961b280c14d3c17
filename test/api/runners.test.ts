import test from 'ava';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import type { MadeProject, MadeRunner, MadeUser } from '../support/make.ts';

const holder = withApp();

type Runner = Record<string, unknown> & { id: number };

function call<T = Runner>(
  method: string,
  path: string,
  as: MadeUser | null,
  json?: Record<string, unknown>,
): Promise<Answer<T>> {
  return holder.app.call<T>(method, `/api/v3${path}`, { as: as?.token ?? rootToken, json });
}

async function ids(path: string, as: MadeUser | null): Promise<number[]> {
  const answer = await call<Runner[]>('GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100`, as);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.map(({ id }) => id);
}

interface World {
  master: MadeUser;
  project: MadeProject;
  /** Specific runner of the project. */
  own: MadeRunner;
  /** Specific runner of the project and of one more, which is somebody else's. */
  both: MadeRunner;
  other: MadeProject;
  shared: MadeRunner;
}

async function world(): Promise<World> {
  const { make } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  const master = await make.member(project, 'master');
  const own = await make.runner({ projects: [project], tags: ['ruby', 'linux'] });
  const both = await make.runner({ projects: [project, other] });
  return { master, project, own, both, other, shared: await make.runner() };
}

test('the own list: specific runners of the projects that one is a master of', async (t) => {
  const { make } = holder.app;
  const { project, own, both, master, other } = await world();
  await make.runner({ projects: [other] });
  t.deepEqual(await ids('/runners', master), [own.id, both.id]);
  t.deepEqual(await ids('/runners', project.owner), [own.id, both.id]);
  t.deepEqual(await ids('/runners', await make.member(project, 'developer')), []);
  t.deepEqual(await ids('/runners', await make.user()), []);
  const [group, lent] = [await make.group(), await make.group()];
  const ofGroup = await make.project({ namespaceId: group });
  const runner = await make.runner({ projects: [ofGroup] });
  await make.share(ofGroup, lent, 'master');
  const [member, developer, borrower] = [await make.user(), await make.user(), await make.user()];
  await make.groupMember(group, member, 'master');
  await make.groupMember(group, developer, 'developer');
  await make.groupMember(lent, borrower, 'owner');
  t.deepEqual(await ids('/runners', member), [runner.id]);
  t.deepEqual(await ids('/runners', developer), []);
  t.deepEqual(await ids('/runners', borrower), [runner.id]);
  await holder.app.rows('update namespaces set share_with_group_lock = true where id = $1', [group]);
  t.deepEqual(await ids('/runners', borrower), []);
});

test('an item is a summary', async (t) => {
  const { own, master } = await world();
  const { body } = await call<Runner[]>('GET', '/runners', master);
  t.deepEqual(body[0], {
    id: own.id,
    description: String(body[0]?.description),
    active: true,
    is_shared: false,
    name: null,
  });
});

test('scopes of the own list', async (t) => {
  const { make, rows } = holder.app;
  const { own, both, master, project } = await world();
  const paused = await make.runner({ projects: [project], active: false });
  await rows(`update runners set contacted_at = now() - interval '4 minutes' where id = $1`, [own.id]);
  await rows(`update runners set contacted_at = now() - interval '6 minutes' where id = $1`, [both.id]);
  t.deepEqual(await ids('/runners?scope=active', master), [own.id, both.id]);
  t.deepEqual(await ids('/runners?scope=paused', master), [paused.id]);
  t.deepEqual(await ids('/runners?scope=online', master), [own.id]);
  t.deepEqual(await ids('/runners?scope=', master), [own.id, both.id, paused.id]);
  for (const scope of ['shared', 'specific', 'nonsense', 'Active', 'constructor']) {
    const answer = await call('GET', `/runners?scope=${scope}`, master);
    t.is(answer.status, 400, scope);
    t.deepEqual(answer.body as unknown, { message: 'Scope contains invalid value' });
  }
});

test('all runners, with their scopes, are for administrators', async (t) => {
  const { own, both, shared, master } = await world();
  const all = await ids('/runners/all', null);
  for (const { id } of [own, both, shared]) t.true(all.includes(id));
  t.deepEqual(
    all,
    [...all].sort((a, b) => a - b),
  );
  const someShared = await ids('/runners/all?scope=shared', null);
  t.true(someShared.includes(shared.id) && !someShared.includes(own.id));
  const specific = await ids('/runners/all?scope=specific', null);
  t.true(specific.includes(own.id) && !specific.includes(shared.id));
  for (const scope of ['active', 'paused', 'online'])
    t.truthy(await ids(`/runners/all?scope=${scope}`, null));
  t.is((await call('GET', '/runners/all?scope=unknown', null)).status, 400);
  t.is((await call('GET', '/runners/all', master)).status, 403);
  t.is((await holder.app.call('GET', '/api/v3/runners/all')).status, 401);
});

test('one in detail', async (t) => {
  const { own, master, project } = await world();
  await holder.app.rows(
    `update runners set name = 'n', version = '1.5.3', revision = 'abc', platform = 'linux', architecture = 'amd64',
       contacted_at = '2016-01-25T16:39:48.066Z' where id = $1`,
    [own.id],
  );
  const { status, body } = await call('GET', `/runners/${own.id}`, master);
  t.is(status, 200);
  t.deepEqual(body, {
    id: own.id,
    description: String(body.description),
    active: true,
    is_shared: false,
    name: 'n',
    version: '1.5.3',
    revision: 'abc',
    platform: 'linux',
    architecture: 'amd64',
    contacted_at: '2016-01-25T16:39:48.066Z',
    token: own.token,
    tag_list: ['ruby', 'linux'],
    run_untagged: true,
    projects: [
      {
        id: project.id,
        name: project.path,
        name_with_namespace: `Name of ${project.owner.username} / ${project.path}`,
        path: project.path,
        path_with_namespace: project.fullPath,
      },
    ],
  });
});

test('who may see one, its token and its projects', async (t) => {
  const { make } = holder.app;
  const { own, both, shared, master, project, other } = await world();
  const stranger = await make.user();
  const refused = await call('GET', `/runners/${own.id}`, stranger);
  t.is(refused.status, 403);
  t.deepEqual(refused.body as unknown, { message: '403 Forbidden - No access granted' });
  t.is((await call('GET', `/runners/${own.id}`, await make.member(project, 'developer'))).status, 403);
  const projectsOf = (body: Runner) => (body.projects as { id: number }[]).map(({ id }) => id);
  t.deepEqual(projectsOf((await call('GET', `/runners/${both.id}`, master)).body), [project.id]);
  t.deepEqual(projectsOf((await call('GET', `/runners/${both.id}`, null)).body), [project.id, other.id]);
  const open = await call('GET', `/runners/${shared.id}`, stranger);
  t.is(open.status, 200);
  t.false('token' in open.body);
  t.is((await call('GET', `/runners/${shared.id}`, null)).body.token, shared.token);
  t.is((await call('GET', `/runners/${own.id}`, null)).body.token, own.token);
});

test('a runner that is not there', async (t) => {
  for (const [method, id] of [
    ['GET', '999999'],
    ['PUT', '999999'],
    ['DELETE', '999999'],
    ['GET', 'x'],
  ] as const) {
    const answer = await call(method, `/runners/${id}`, null);
    t.is(answer.status, 404);
    t.deepEqual(answer.body as unknown, { message: '404 Not found' });
  }
});

test('masters change description, activity and tags; what is not given stays', async (t) => {
  const { own, master } = await world();
  const first = await call('PUT', `/runners/${own.id}`, master, {
    description: 'changed',
    active: 'false',
    tag_list: ['a', ' b '],
  });
  t.is(first.status, 200);
  t.like(first.body, { description: 'changed', active: false, tag_list: ['a', 'b'], run_untagged: true });
  t.is(first.body.token, own.token);
  const second = await call('PUT', `/runners/${own.id}`, master, {
    active: true,
    tag_list: 'x, y,,',
    description: '',
  });
  t.like(second.body, { description: 'changed', active: true, tag_list: ['x', 'y'] });
  const odd = ['null', 'a"b', 'c\\d', '{e}', 'f g'];
  t.like((await call('PUT', `/runners/${own.id}`, master, { tag_list: odd })).body, { tag_list: odd });
  const form = await holder.app.call<Runner>('PUT', `/api/v3/runners/${own.id}`, {
    as: master.token,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'tag_list[]=c&tag_list[]=d',
  });
  t.deepEqual(form.body.tag_list, ['c', 'd']);
  t.deepEqual((await call('PUT', `/runners/${own.id}`, master, { tag_list: '' })).body.tag_list, []);
  t.deepEqual((await call('PUT', `/runners/${own.id}`, master, {})).body.description, 'changed');
});

test('a runner must be able to take something', async (t) => {
  const { own, master } = await world();
  const refused = await call('PUT', `/runners/${own.id}`, master, { run_untagged: false, tag_list: [] });
  t.is(refused.status, 400);
  t.true(Array.isArray((refused.body.message as Record<string, unknown>).tag_list));
  const fine = await call('PUT', `/runners/${own.id}`, master, { run_untagged: false });
  t.like(fine.body, { run_untagged: false, tag_list: ['ruby', 'linux'] });
  t.is((await call('PUT', `/runners/${own.id}`, master, { tag_list: '' })).status, 400);
});

test('a paused runner gets nothing', async (t) => {
  const { make } = holder.app;
  const { own, master, project } = await world();
  await make.build(project, { job: { tags: ['ruby'] } });
  const claim = () => holder.app.call('POST', '/ci/api/v1/builds/register', { json: { token: own.token } });
  await call('PUT', `/runners/${own.id}`, master, { active: false });
  t.is((await claim()).status, 404);
  await call('PUT', `/runners/${own.id}`, master, { active: true });
  t.is((await claim()).status, 201);
});

test('shared runners are changed and removed by administrators alone', async (t) => {
  const { shared, master } = await world();
  for (const method of ['PUT', 'DELETE']) {
    const refused = await call(method, `/runners/${shared.id}`, master, { description: 'x' });
    t.is(refused.status, 403, method);
    t.deepEqual(refused.body as unknown, { message: '403 Forbidden - Runner is shared' });
  }
  t.is(
    (await call('PUT', `/runners/${shared.id}`, null, { description: 'by admin' })).body.description,
    'by admin',
  );
  t.is((await call('DELETE', `/runners/${shared.id}`, null)).status, 200);
});

test('others may neither change nor remove', async (t) => {
  const { make } = holder.app;
  const { own, project } = await world();
  for (const user of [await make.user(), await make.member(project, 'developer')]) {
    for (const method of ['PUT', 'DELETE']) {
      const refused = await call(method, `/runners/${own.id}`, user, { description: 'x' });
      t.is(refused.status, 403);
      t.deepEqual(refused.body as unknown, { message: '403 Forbidden - No access granted' });
    }
    t.is((await holder.app.call('PUT', `/api/v3/runners/${own.id}`)).status, 401);
  }
});

test('remove: answers the runner, whose token is worth nothing any more', async (t) => {
  const { own, master } = await world();
  const answer = await call('DELETE', `/runners/${own.id}`, master);
  t.is(answer.status, 200);
  t.deepEqual(Object.keys(answer.body).sort(), ['active', 'description', 'id', 'is_shared', 'name']);
  t.is((await call('GET', `/runners/${own.id}`, null)).status, 404);
  const claim = await holder.app.call('POST', '/ci/api/v1/builds/register', { json: { token: own.token } });
  t.is(claim.status, 403);
});

test('remove: what it was running is failed', async (t) => {
  const { own, master, project } = await world();
  const build = await holder.app.make.build(project, { status: 'running', runner: own });
  const done = await holder.app.make.build(project, { status: 'success', runner: own });
  await call('DELETE', `/runners/${own.id}`, master);
  const get = (id: number) => call('GET', `/projects/${project.id}/builds/${id}`, master);
  t.like((await get(build.id)).body, { status: 'failed', runner: null });
  t.like((await get(done.id)).body, { status: 'success', runner: null });
  const trace = await call<string>('GET', `/projects/${project.id}/builds/${build.id}/trace`, master);
  t.regex(trace.body, /Job failed: its runner was removed/);
});

test('remove: one that serves several projects is for administrators', async (t) => {
  const { both, master } = await world();
  const refused = await call('DELETE', `/runners/${both.id}`, master);
  t.is(refused.status, 403);
  t.deepEqual(refused.body as unknown, {
    message: '403 Forbidden - Runner associated with more than one project',
  });
  t.is((await call('DELETE', `/runners/${both.id}`, null)).status, 200);
});

test('runners of a project: its own, and the shared ones where it takes them', async (t) => {
  const { rows } = holder.app;
  const { own, both, shared, master, project } = await world();
  const path = `/projects/${project.id}/runners`;
  const all = await ids(path, master);
  t.true([own, both, shared].every(({ id }) => all.includes(id)));
  t.deepEqual(await ids(`${path}?scope=specific`, master), [own.id, both.id]);
  const someShared = await ids(`${path}?scope=shared`, master);
  t.true(someShared.includes(shared.id) && !someShared.includes(own.id));
  t.deepEqual(await ids(`${path}?scope=paused`, master), []);
  t.is((await call('GET', `${path}?scope=none`, master)).status, 400);
  await rows('update projects set shared_runners_enabled = false where id = $1', [project.id]);
  t.deepEqual(await ids(path, master), [own.id, both.id]);
  t.deepEqual(await ids(`${path}?scope=shared`, master), []);
});

test('runners of a project are the business of its masters', async (t) => {
  const { make } = holder.app;
  const { project, own, both } = await world();
  const open = await make.project({ visibility: 'public' });
  const cases: [MadeProject, MadeUser, number][] = [
    [project, await make.member(project, 'developer'), 403],
    [project, await make.user(), 404],
    [open, await make.user(), 403],
  ];
  for (const [target, user, status] of cases) {
    const path = `/projects/${target.id}/runners`;
    t.is((await call('GET', path, user)).status, status);
    t.is((await call('POST', path, user, { runner_id: own.id })).status, status);
    t.is((await call('DELETE', `${path}/${both.id}`, user)).status, status);
  }
});

test('enable: a specific runner that one is a master of serves one more project', async (t) => {
  const { make } = holder.app;
  const { own, shared, both, master } = await world();
  const mine = await make.project({ owner: master });
  const path = `/projects/${mine.id}/runners`;
  const answer = await call('POST', path, master, { runner_id: own.id });
  t.is(answer.status, 201);
  t.is(answer.body.id, own.id);
  t.true((await ids(path, master)).includes(own.id));
  const again = await call('POST', path, master, { runner_id: own.id });
  t.is(again.status, 409);
  t.deepEqual(again.body as unknown, { message: 'Runner was already enabled for this project' });
  const foreign = await make.runner({ projects: [await make.project()] });
  const cases: [unknown, number, string][] = [
    [shared.id, 403, '403 Forbidden - Runner is shared'],
    [foreign.id, 403, '403 Forbidden - No access granted'],
    [999_999, 404, '404 Not found'],
    ['', 400, '400 (Bad request) "runner_id" not given'],
    [null, 400, '400 (Bad request) "runner_id" not given'],
  ];
  for (const [runner_id, status, message] of cases) {
    const refused = await call('POST', path, master, { runner_id });
    t.is(refused.status, status, message);
    t.deepEqual(refused.body as unknown, { message });
  }
  t.is((await call('POST', path, master, { runner_id: 'x' })).status, 400);
  t.is((await call('POST', path, null, { runner_id: foreign.id })).status, 201, 'administrators may');
  await holder.app.rows('update runners set locked = true where id = $1', [both.id]);
  t.is((await call('POST', path, master, { runner_id: both.id })).status, 403);
});

test('enabled runners take builds of the project', async (t) => {
  const { make } = holder.app;
  const { own, master } = await world();
  const mine = await make.project({ owner: master });
  const build = await make.build(mine, { job: { tags: ['linux'] } });
  const claim = () =>
    holder.app.call<Runner>('POST', '/ci/api/v1/builds/register', { json: { token: own.token } });
  t.is((await claim()).status, 404);
  await call('POST', `/projects/${mine.id}/runners`, master, { runner_id: own.id });
  t.is((await claim()).body.id, build.id);
});

test('disable: only while the runner serves another project', async (t) => {
  const { own, both, master, project, other, shared } = await world();
  const path = `/projects/${project.id}/runners`;
  const answer = await call('DELETE', `${path}/${both.id}`, master);
  t.is(answer.status, 200);
  t.is(answer.body.id, both.id);
  t.false((await ids(path, master)).includes(both.id));
  t.true((await ids(`/projects/${other.id}/runners`, null)).includes(both.id));
  const last = await call('DELETE', `${path}/${own.id}`, master);
  t.is(last.status, 403);
  t.deepEqual(last.body as unknown, {
    message: '403 Forbidden - Only one project associated with the runner. Please remove the runner instead',
  });
  t.true((await ids(path, master)).includes(own.id));
  for (const id of [both.id, shared.id, 999_999]) {
    const absent = await call('DELETE', `${path}/${id}`, master);
    t.is(absent.status, 404);
    t.deepEqual(absent.body as unknown, { message: '404 Runner Not Found' });
  }
});
