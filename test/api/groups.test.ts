import test from 'ava';
import { apiCalls, messageOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

interface Group {
  id: number;
  name: string;
  path: string;
  description: string;
  visibility_level: number;
  web_url: string;
  projects: { id: number; path_with_namespace: string }[];
}

const call = apiCalls<Group>(holder);

function ids(items: { id: number }[]): number[] {
  return items.map(({ id }) => id);
}

/** A group with a member. */
async function groupOf(
  level: 'guest' | 'master' | 'owner',
  given: Parameters<typeof holder.app.make.group>[0] = {},
): Promise<{ id: number; path: string; member: MadeUser }> {
  const { make, rows } = holder.app;
  const id = await make.group(given);
  const member = await make.user();
  await make.groupMember(id, member, level);
  const [row] = await rows<{ path: string }>('select path from namespaces where id = $1', [id]);
  return { id, path: row?.path ?? '', member };
}

test('whoever may make groups makes one and owns it', async (t) => {
  const { make, url, rows } = holder.app;
  const user = await make.user();
  const given = { name: 'The Crew - 1', path: 'The.Crew_1', description: 'Us', visibility_level: 10 };
  const made = await call('POST', '/groups', user.token, given);
  t.is(made.status, 201);
  t.deepEqual(made.body as unknown, {
    id: made.body.id,
    ...given,
    avatar_url: null,
    web_url: `${url}/groups/The.Crew_1`,
  });
  const members = await rows('select user_id, access_level from group_members where group_id = $1', [
    made.body.id,
  ]);
  t.deepEqual(members, [{ user_id: user.id, access_level: 50 }]);
  const plain = await call('POST', '/groups', user.token, { name: 'plain', path: 'plain-one' });
  t.is(plain.body.visibility_level, 20);
  t.is(plain.body.description, '');
});

test('external users and those who may not make groups are told so before anything else', async (t) => {
  const { make, rows } = holder.app;
  const external = await make.user({ external: true });
  const without = await make.user();
  await rows('update users set can_create_group = false where id = $1', [without.id]);
  for (const { token } of [external, without]) t.is((await call('POST', '/groups', token)).status, 403);
  t.is((await call('POST', '/groups', undefined)).status, 401);
});

test('name and path are asked for, in this order', async (t) => {
  const user = await holder.app.make.user();
  const nameless = await call('POST', '/groups', user.token, { path: 'x' });
  t.is(messageOf(nameless), '400 (Bad request) "name" not given');
  const pathless = await call('POST', '/groups', user.token, { name: 'x' });
  t.is(messageOf(pathless), '400 (Bad request) "path" not given');
});

const badPath = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.'.";
const tooLong = 'is too long (maximum is 255 characters)';
const refused: [Record<string, unknown>, Record<string, string[]>][] = [
  [{ path: '-x' }, { path: [badPath] }],
  [{ path: 'x.' }, { path: [badPath] }],
  [{ path: 'a/b' }, { path: [badPath] }],
  [{ path: 'Groups' }, { path: ['Groups is a reserved name'] }],
  [{ path: 'api' }, { path: ['api is a reserved name'] }],
  [
    { path: 'x'.repeat(256), description: 'd'.repeat(256) },
    { path: [tooLong], description: [tooLong] },
  ],
  [{ name: 'a/b' }, { name: ["can contain only letters, digits, '_', '.', dash and space."] }],
  [{ visibility_level: 5 }, { visibility_level: ['is not included in the list'] }],
];

for (const [given, faults] of refused) {
  test(`a group is refused with ${JSON.stringify(given).slice(0, 40)}`, async (t) => {
    const group = await groupOf('owner');
    const made = await call('POST', '/groups', group.member.token, { name: 'fine', path: 'fine', ...given });
    t.is(made.status, 400);
    t.deepEqual(messageOf(made), faults);
    const changed = await call('PUT', `/groups/${group.id}`, group.member.token, given);
    t.is(changed.status, 400);
    t.deepEqual(messageOf(changed), faults);
  });
}

test('paths are unique over groups and users whatever their case, and names over groups', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const group = await groupOf('owner');
  const taken = ['has already been taken'];
  const both = { name: group.path, path: group.path.toUpperCase() };
  t.deepEqual(messageOf(await call('POST', '/groups', user.token, both)), { name: taken, path: taken });
  const likeUser = { name: 'like a user', path: user.username.toUpperCase() };
  t.deepEqual(messageOf(await call('POST', '/groups', user.token, likeUser)), { path: taken });
  const other = await groupOf('owner');
  const renamed = await call('PUT', `/groups/${other.id}`, other.member.token, both);
  t.deepEqual(messageOf(renamed), { name: taken, path: taken });
  const self = { path: other.path.toUpperCase(), name: other.path };
  t.is((await call('PUT', `/groups/${other.id}`, other.member.token, self)).status, 200);
});

test('a group is found by its id first, and by its exact path then', async (t) => {
  const group = await groupOf('guest', { path: 'Exact-Path' });
  const numeric = await groupOf('guest', { path: String(group.id) });
  t.is((await call('GET', `/groups/${group.id}`, rootToken)).body.id, group.id);
  t.is((await call('GET', '/groups/Exact%2DPath', rootToken)).body.id, group.id);
  t.is((await call('GET', '/groups/exact-path', rootToken)).status, 404);
  await call('DELETE', `/groups/${group.id}`, rootToken);
  t.is((await call('GET', `/groups/${group.id}`, rootToken)).body.id, numeric.id);
  for (const nothing of ['no-such', '99999999999', '%00', `${numeric.member.username}`]) {
    const answer = await call('GET', `/groups/${nothing}`, rootToken);
    t.is(answer.status, 404, nothing);
    t.is(messageOf(answer), '404 Group Not Found');
  }
});

test('who reads a group: by visibility, membership, and whoever sees one of its projects', async (t) => {
  const { make } = holder.app;
  const stranger = await make.user();
  const external = await make.user({ external: true });
  for (const [visibility, forStranger, forExternal] of [
    ['public', 200, 200],
    ['internal', 200, 404],
    ['private', 404, 404],
  ] as const) {
    const group = await groupOf('guest', { visibility });
    const statusFor = async (token: string) => (await call('GET', `/groups/${group.id}`, token)).status;
    t.is(await statusFor(stranger.token), forStranger, visibility);
    t.is(await statusFor(external.token), forExternal, visibility);
    t.is(await statusFor(group.member.token), 200, visibility);
    t.is(await statusFor(rootToken), 200, visibility);
  }
});

test('a private group is read by members of a project in it, and by those it is shared with', async (t) => {
  const { make, rows } = holder.app;
  const group = await groupOf('owner', { visibility: 'private' });
  const project = await make.project({ namespaceId: group.id });
  const hidden = await make.project({ namespaceId: group.id });
  const guest = await make.member(project, 'guest');
  const friend = await groupOf('guest');
  await make.share(project, friend.id, 'guest');
  for (const { token } of [guest, friend.member]) {
    const answer = await call('GET', `/groups/${group.id}`, token);
    t.is(answer.status, 200);
    t.deepEqual(ids(answer.body.projects), [project.id]);
    const listed = await call<{ id: number }[]>('GET', `/groups/${group.id}/projects`, token);
    t.deepEqual(ids(listed.body), [project.id]);
  }
  const all = await call('GET', `/groups/${group.id}`, group.member.token);
  t.deepEqual(ids(all.body.projects), [hidden.id, project.id]);
  await rows('update namespaces set share_with_group_lock = true where id = $1', [group.id]);
  t.is((await call('GET', `/groups/${group.id}`, friend.member.token)).status, 404);
});

test('the list has own groups, and all for administrators, searched in name and path', async (t) => {
  const { rows } = holder.app;
  const group = await groupOf('guest', { path: 'Needle_100%' });
  await rows("update namespaces set name = 'Hay Stack' where id = $1", [group.id]);
  await holder.app.make.groupMember(await holder.app.make.group(), group.member, 'owner');
  const list = async (token: string, search: string) =>
    ids((await call<Group[]>('GET', `/groups?search=${encodeURIComponent(search)}`, token)).body);
  for (const search of ['needle_', '100%', 'STACK']) {
    t.deepEqual(await list(group.member.token, search), [group.id], search);
    t.deepEqual(await list(rootToken, search), [group.id], search);
  }
  t.deepEqual(await list(group.member.token, 'x_100'), []);
  const own = await call<Group[]>('GET', '/groups?per_page=1', group.member.token);
  t.is(own.headers.get('x-total'), '2');
  t.is(own.headers.get('x-next-page'), '2');
  t.true((own.body[0]?.id ?? 0) > group.id, 'the newest comes first');
  const all = await call<Group[]>('GET', '/groups', rootToken);
  t.true(Number(all.headers.get('x-total')) > 2);
});

test('namespaces are the own one and those of groups, and all for administrators', async (t) => {
  const group = await groupOf('guest');
  const { member } = group;
  const own = await call<Group[]>('GET', '/namespaces', member.token);
  t.deepEqual(own.body as unknown[], [
    { id: member.namespaceId, path: member.username, kind: 'user' },
    { id: group.id, path: group.path, kind: 'group' },
  ]);
  const found = await call<Group[]>('GET', `/namespaces?search=${member.username.toUpperCase()}`, rootToken);
  t.true(ids(found.body).includes(member.namespaceId));
  t.is(found.headers.get('x-page'), '1');
  const other = await call<Group[]>(
    'GET',
    `/namespaces?search=${group.path}`,
    (await groupOf('guest')).member.token,
  );
  t.deepEqual(other.body, []);
});

test('owners and administrators change a group, and its projects move with its path', async (t) => {
  const { make } = holder.app;
  const group = await groupOf('owner', { visibility: 'private' });
  const project = await make.project({ namespaceId: group.id });
  const master = await make.user();
  await make.groupMember(group.id, master, 'master');
  t.is((await call('PUT', `/groups/${group.id}`, master.token, { name: 'mine' })).status, 403);
  t.is((await call('PUT', `/groups/${group.id}`, (await make.user()).token, { name: 'mine' })).status, 404);
  const change = { name: 'New name', path: 'new-path', description: 'New', visibility_level: 20 };
  const changed = await call('PUT', `/groups/${group.path}`, group.member.token, change);
  t.is(changed.status, 200);
  t.like(changed.body, change);
  t.is(changed.body.projects[0]?.path_with_namespace, `new-path/${project.path}`);
  t.is((await call('GET', `/projects/new-path%2F${project.path}`, group.member.token)).body.id, project.id);
  const same = await call('PUT', `/groups/${group.id}`, rootToken, { description: '' });
  t.like(same.body, change);
});

test('a group is not shown to fewer people than its projects', async (t) => {
  const { make } = holder.app;
  const group = await groupOf('owner');
  const project = await make.project({ namespaceId: group.id, visibility: 'internal' });
  const lower = (level: number) =>
    call('PUT', `/groups/${group.id}`, group.member.token, { visibility_level: level });
  const refusal = await lower(0);
  t.is(refusal.status, 400);
  t.deepEqual(messageOf(refusal), {
    visibility_level: ['private is not allowed since there are projects with higher visibility.'],
  });
  t.is((await lower(10)).status, 200);
  await call('PUT', `/projects/${project.id}`, rootToken, { visibility_level: 0 });
  t.is((await lower(0)).status, 200);
});

test.serial('levels that the administrator has restricted are for administrators', async (t) => {
  const { rows } = holder.app;
  await rows("update settings set restricted_visibility_levels = '{10,20}', default_group_visibility = 0");
  try {
    const group = await groupOf('owner', { visibility: 'private' });
    const given = { name: 'restricted', path: 'restricted', visibility_level: 20 };
    const text = { visibility_level: ['public has been restricted by your GitLab administrator'] };
    const { token } = group.member;
    t.deepEqual(messageOf(await call('POST', '/groups', token, given)), text);
    t.deepEqual(messageOf(await call('PUT', `/groups/${group.id}`, token, { visibility_level: 20 })), text);
    t.is((await call('PUT', `/groups/${group.id}`, rootToken, { visibility_level: 20 })).status, 200);
    t.is((await call('PUT', `/groups/${group.id}`, token, { visibility_level: 20 })).status, 200);
    t.is((await call('POST', '/groups', rootToken, given)).status, 201);
    const plain = await call('POST', '/groups', token, { name: 'by default', path: 'by-default' });
    t.is(plain.body.visibility_level, 0);
  } finally {
    await rows("update settings set restricted_visibility_levels = '{}', default_group_visibility = 20");
  }
});

test("projects of a group are filtered, ordered and paged as everybody's are", async (t) => {
  const { make } = holder.app;
  const group = await groupOf('guest');
  const first = await make.project({
    namespaceId: group.id,
    visibility: 'public',
    columns: { name: 'b', path: 'b' },
  });
  const second = await make.project({
    namespaceId: group.id,
    columns: { name: 'a', path: 'a', archived: true },
  });
  await make.project();
  const list = async (query: string, token = group.member.token) =>
    ids((await call<Group[]>('GET', `/groups/${group.id}/projects${query}`, token)).body);
  t.deepEqual(await list(''), [second.id, first.id]);
  t.deepEqual(await list('?order_by=name&sort=asc&ci_enabled_first=true'), [second.id, first.id]);
  t.deepEqual(await list('?order_by=name&sort=desc'), [first.id, second.id]);
  t.deepEqual(await list('?archived=true'), [second.id]);
  t.deepEqual(await list('?archived=false'), [first.id]);
  t.deepEqual(await list('?visibility=private'), [second.id]);
  t.deepEqual(await list('?visibility=public'), [first.id]);
  t.deepEqual(await list('?search=B'), [first.id]);
  t.deepEqual(await list('?per_page=1&page=2'), [first.id]);
  t.deepEqual(await list('', (await make.user()).token), [first.id], 'private ones are not for strangers');
  t.deepEqual(await list('', rootToken), [second.id, first.id]);
});
