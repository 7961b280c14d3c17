import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

type Project = Record<string, unknown> & { id: number; path: string; path_with_namespace: string };

async function list(user: MadeUser, query: Record<string, string> = {}): Promise<string[]> {
  const answer = await holder.app.call<Project[]>('GET', '/api/v3/projects', { as: user.token, query });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.map((project) => project.path);
}

test('the list has the projects that one takes part in, each once, and no others', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const [group, shared, locked] = [await make.group(), await make.group(), await make.group()];
  await holder.app.rows('update namespaces set share_with_group_lock = true where id = $1', [locked]);
  await make.groupMember(group, user, 'guest');
  await make.groupMember(shared, user, 'guest');
  const own = await make.project({ owner: user });
  const joined = await make.project();
  await holder.app.rows(
    'insert into project_members (project_id, user_id, access_level) values ($1, $3, 10), ($2, $3, 40)',
    [joined.id, own.id, user.id],
  );
  const ofGroup = await make.project({ namespaceId: group });
  const lent = await make.project();
  await make.share(lent, shared, 'guest');
  await make.share(own, shared, 'guest');
  const kept = await make.project({ namespaceId: locked });
  await make.share(kept, shared, 'guest');
  await make.project({ visibility: 'public' });
  await make.project({ visibility: 'internal' });
  const going = await make.project({ owner: user, columns: { pending_delete: true } });
  const paths = await list(user, { order_by: 'id', sort: 'asc' });
  t.deepEqual(
    paths,
    [own, joined, ofGroup, lent].map((project) => project.path),
  );
  t.false(paths.includes(going.path));
});

test('an item of the list has the own levels and no token', async (t) => {
  const { make, call, url } = holder.app;
  const user = await make.user();
  const group = await make.group();
  await make.groupMember(group, user, 'developer');
  const project = await make.project({
    namespaceId: group,
    columns: { description: 'Text', tag_list: '{a,b}' },
  });
  const { body } = await call<Project[]>('GET', '/api/v3/projects', { as: user.token });
  t.like(body[0], {
    id: project.id,
    description: 'Text',
    default_branch: null,
    tag_list: ['a', 'b'],
    public: false,
    archived: false,
    visibility_level: 0,
    http_url_to_repo: `${url}/${project.fullPath}.git`,
    ssh_url_to_repo: `git@127.0.0.1:${project.fullPath}.git`,
    web_url: `${url}/${project.fullPath}`,
    path_with_namespace: project.fullPath,
    name_with_namespace: `${project.fullPath.split('/')[0]} / ${project.path}`,
    open_issues_count: 0,
    permissions: { project_access: null, group_access: { access_level: 30, notification_level: 3 } },
  });
  t.false('runners_token' in (body[0] ?? {}) || 'owner' in (body[0] ?? {}));
  t.like(body[0]?.namespace, {
    id: group,
    owner_id: null,
    visibility_level: 20,
    share_with_group_lock: false,
  });
});

test('filters: archived, visibility, search', async (t) => {
  const { make } = holder.app;
  const user = await make.user({ username: 'finder' });
  const old = await make.project({ owner: user, columns: { archived: true } });
  const open = await make.project({
    owner: user,
    visibility: 'public',
    columns: { description: 'A 50% Discount' },
  });
  const inner = await make.project({ owner: user, visibility: 'internal', columns: { name: 'Shown Name' } });
  const sorted = async (query: Record<string, string>) => (await list(user, query)).sort();
  t.deepEqual(await sorted({ archived: 'true' }), [old.path]);
  t.deepEqual(await sorted({ archived: 'false' }), [open.path, inner.path].sort());
  t.is((await sorted({})).length, 3);
  t.deepEqual(await sorted({ visibility: 'private' }), [old.path]);
  t.deepEqual(await sorted({ visibility: 'internal' }), [inner.path]);
  t.deepEqual(await sorted({ visibility: 'public' }), [open.path]);
  t.is((await sorted({ visibility: 'everything' })).length, 3, 'unknown words are passed over');
  t.deepEqual(await sorted({ search: 'dIsCoUnT' }), [open.path]);
  t.deepEqual(await sorted({ search: '50%' }), [open.path]);
  t.deepEqual(await sorted({ search: '5_%' }), []);
  t.deepEqual(await sorted({ search: 'shown n' }), [inner.path]);
  t.deepEqual(await sorted({ search: open.path.toUpperCase() }), [open.path]);
  t.is((await sorted({ search: 'FIND' })).length, 3, 'the name of the namespace');
  t.deepEqual(await sorted({ search: 'FIND', visibility: 'public', archived: 'true' }), []);
});

test('orders: each column both ways, newest first when none or an unknown one is named', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const day = (n: number) => new Date(Date.UTC(2016, 0, n));
  const made = [];
  for (const [name, created, updated, active] of [
    ['b', 3, 1, 2],
    ['a', 1, 3, 1],
    ['c', 2, 2, 3],
  ] as const) {
    const columns = {
      name,
      path: `order-${name}`,
      created_at: day(created),
      updated_at: day(updated),
      last_activity_at: day(active),
    };
    made.push(await make.project({ owner: user, columns }));
  }
  const orders: Record<string, string> = {
    id: 'bac',
    name: 'abc',
    path: 'abc',
    created_at: 'acb',
    updated_at: 'bca',
    last_activity_at: 'abc',
  };
  const letters = async (query: Record<string, string>) =>
    (await list(user, query)).map((path) => path.at(-1)).join('');
  for (const [order_by, wanted] of Object.entries(orders)) {
    t.is(await letters({ order_by, sort: 'asc' }), wanted, order_by);
    t.is(await letters({ order_by, sort: 'desc' }), [...wanted].reverse().join(''), order_by);
    t.is(await letters({ order_by }), [...wanted].reverse().join(''), `${order_by} without a direction`);
  }
  t.is(await letters({}), 'bca');
  t.is(await letters({ order_by: 'star_count', sort: 'sideways' }), 'bca');
  t.is(await letters({ sort: 'asc' }), 'acb');
});

test('rows of the same moment keep one order over the pages', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const created_at = new Date();
  for (let count = 0; count < 5; count += 1) await make.project({ owner: user, columns: { created_at } });
  const paged = [];
  for (const page of ['1', '2', '3']) paged.push(...(await list(user, { page, per_page: '2' })));
  t.deepEqual(paged, await list(user));
  t.is(new Set(paged).size, 5);
});

test('one project: by id, by path, to those who may see it', async (t) => {
  const { make, call } = holder.app;
  const hidden = await make.project();
  const inner = await make.project({ visibility: 'internal' });
  const open = await make.project({ visibility: 'public' });
  const [stranger, external] = [await make.user(), await make.user({ external: true })];
  const guest = await make.member(hidden, 'guest');
  const status = async (project: { id: number }, as: string | undefined) =>
    (await call('GET', `/api/v3/projects/${project.id}`, { as })).status;
  t.deepEqual(
    [
      await status(hidden, stranger.token),
      await status(inner, stranger.token),
      await status(open, stranger.token),
    ],
    [404, 200, 200],
  );
  t.deepEqual([await status(inner, external.token), await status(open, external.token)], [404, 200]);
  t.deepEqual([await status(hidden, guest.token), await status(hidden, rootToken)], [200, 200]);
  t.deepEqual([await status(open, undefined), await status(open, 'wrong')], [401, 401]);
  const path = encodeURIComponent(hidden.fullPath.toUpperCase());
  const byPath = await call<Project>('GET', `/api/v3/projects/${path}`, { as: guest.token });
  t.is(byPath.body.id, hidden.id);
  const refused = await call('GET', `/api/v3/projects/${path}`, { as: stranger.token });
  t.is(refused.status, 404);
  t.deepEqual(refused.body, { message: '404 Project Not Found' });
});

test('a personal project has its owner; the token for runners is shown to masters alone', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project({ visibility: 'public', columns: { issues_enabled: false } });
  const { owner } = project;
  const get = async (as: string) =>
    (await call<Project>('GET', `/api/v3/projects/${project.id}`, { as })).body;
  const own = await get(owner.token);
  t.is(own.runners_token, project.runnersToken);
  t.like(own.owner, {
    id: owner.id,
    username: owner.username,
    name: `Name of ${owner.username}`,
    state: 'active',
  });
  t.truthy((own.owner as { created_at: string }).created_at);
  t.like(own, { name_with_namespace: `Name of ${owner.username} / ${project.path}`, creator_id: owner.id });
  t.false('open_issues_count' in own, 'gone with the issues');
  const master = await make.member(project, 'master');
  t.is((await get(master.token)).runners_token, project.runnersToken);
  t.is((await get(rootToken)).runners_token, project.runnersToken);
  for (const level of ['guest', 'reporter', 'developer'] as const) {
    t.false('runners_token' in (await get((await make.member(project, level)).token)), level);
  }
  t.deepEqual((await get(master.token)).permissions, {
    project_access: { access_level: 40, notification_level: 3 },
    group_access: null,
  });
  t.false('runners_token' in (await get((await make.user()).token)));
});
