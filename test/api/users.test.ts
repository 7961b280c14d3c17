import { createHash } from 'node:crypto';
import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp();

type User = Record<string, unknown> & { id: number; username: string };

const summaryKeys = ['avatar_url', 'id', 'name', 'state', 'username', 'web_url'];
const profileKeys = [
  ...summaryKeys,
  'bio',
  'created_at',
  'is_admin',
  'linkedin',
  'location',
  'skype',
  'twitter',
  'website_url',
];
const fullKeys = [
  ...profileKeys,
  'can_create_group',
  'can_create_project',
  'color_scheme_id',
  'confirmed_at',
  'current_sign_in_at',
  'email',
  'external',
  'identities',
  'last_sign_in_at',
  'projects_limit',
  'theme_id',
  'two_factor_enabled',
];

function keysOf(value: object): string[] {
  return Object.keys(value).sort();
}

async function list(query: Record<string, string>, as = rootToken): Promise<string[]> {
  const answer = await holder.app.call<User[]>('GET', '/api/v3/users', {
    as,
    query: { per_page: '100', ...query },
  });
  return answer.body.map((user) => user.username);
}

test('ordinary users see summaries in the list, administrators everything, newest first', async (t) => {
  const { app } = holder;
  const [first, second] = [await app.make.user(), await app.make.user()];
  const plain = await app.call<User[]>('GET', '/api/v3/users', { as: first.token });
  t.is(plain.status, 200);
  for (const user of plain.body) t.deepEqual(keysOf(user), [...summaryKeys].sort());
  const ids = plain.body.map(({ id }) => id);
  t.deepEqual(
    ids,
    [...ids].sort((a, b) => b - a),
  );
  t.true(ids.indexOf(second.id) < ids.indexOf(first.id));
  const full = await app.call<User[]>('GET', '/api/v3/users', { as: rootToken });
  for (const user of full.body) t.deepEqual(keysOf(user), [...fullKeys].sort());
});

test('search finds parts of name, user name and e-mail, whatever the case, and takes signs as they are', async (t) => {
  const { app } = holder;
  const user = await app.make.user({ username: 'Needle_Worker' });
  await app.make.user({ username: 'needlexworker' });
  await app.rows(`update users set name = 'Käthe 100% O''Hara' where id = $1`, [user.id]);
  for (const search of ['EEDLE_W', 'käthe', '100%', "o'hara", 'Needle_worker@EXAMPLE']) {
    t.deepEqual(await list({ search }), ['Needle_Worker'], search);
  }
  t.is((await list({ search: 'needle' })).length, 2);
  t.deepEqual(await list({ search: 'no such user' }), []);
  t.deepEqual(await list({ search: '\\' }), []);
  t.true((await list({ search: '' })).length > 2, 'blank is as good as absent');
});

test('username is exact', async (t) => {
  await holder.app.make.user({ username: 'exactly' });
  await holder.app.make.user({ username: 'exactly2' });
  t.deepEqual(await list({ username: 'exactly' }), ['exactly']);
  t.deepEqual(await list({ username: 'exact' }), []);
});

test('blocked users are listed, unless only active ones are asked for', async (t) => {
  const { app } = holder;
  const [blocked, byDirectory] = [
    await app.make.user({ state: 'blocked' }),
    await app.make.user({ state: 'ldap_blocked' }),
  ];
  const all = await list({});
  t.true(all.includes(blocked.username) && all.includes(byDirectory.username));
  for (const active of ['1', 'true']) {
    const some = await list({ active });
    t.false(some.includes(blocked.username) || some.includes(byDirectory.username));
    t.true(some.includes('root'));
  }
  t.true((await list({ active: 'false' })).includes(blocked.username));
  const answer = await app.call<User>('GET', `/api/v3/users/${byDirectory.id}`, { as: rootToken });
  t.is(answer.body.state, 'blocked');
});

test('filters add up, and count in the headers', async (t) => {
  const { app } = holder;
  for (const state of ['active', 'active', 'blocked']) {
    const user = await app.make.user({ state });
    await app.rows(`update users set name = 'Counted' where id = $1`, [user.id]);
  }
  const query = { search: 'counted', active: '1', per_page: '1' };
  const answer = await app.call<User[]>('GET', '/api/v3/users', { as: rootToken, query });
  t.is(answer.body.length, 1);
  t.is(answer.headers.get('x-total'), '2');
  t.regex(answer.headers.get('link') ?? '', /active=1&page=2&per_page=1&search=counted>; rel="next"/);
});

test('one user: a profile for ordinary users, everything for administrators', async (t) => {
  const { app } = holder;
  const [viewer, other] = [await app.make.user(), await app.make.user()];
  const path = `/api/v3/users/${other.id}`;
  const plain = await app.call<User>('GET', path, { as: viewer.token });
  t.is(plain.status, 200);
  t.deepEqual(keysOf(plain.body), [...profileKeys].sort());
  const hash = createHash('md5').update(`${other.username}@example.com`).digest('hex');
  t.like(plain.body, {
    id: other.id,
    username: other.username,
    name: `Name of ${other.username}`,
    state: 'active',
    avatar_url: `http://www.gravatar.com/avatar/${hash}?s=80&d=identicon`,
    web_url: `${app.url}/u/${other.username}`,
    is_admin: false,
    bio: null,
    location: null,
    skype: '',
    linkedin: '',
    twitter: '',
    website_url: '',
  });
  t.regex(String(plain.body.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const own = await app.call<User>('GET', `/api/v3/users/${viewer.id}`, { as: viewer.token });
  t.deepEqual(keysOf(own.body), [...profileKeys].sort());
  const full = await app.call<User>('GET', path, { as: rootToken });
  t.deepEqual(keysOf(full.body), [...fullKeys].sort());
  t.like(full.body, { email: `${other.username}@example.com`, identities: [], two_factor_enabled: false });
  const listed = await app.call<User[]>('GET', '/api/v3/users', {
    as: rootToken,
    query: { username: other.username },
  });
  t.deepEqual(listed.body, [full.body]);
});

test('users that are not there', async (t) => {
  const { app } = holder;
  for (const [id, message] of [
    ['999999', '404 User Not Found'],
    ['2147483648', '404 Not found'],
    ['root', '404 Not found'],
    ['1x', '404 Not found'],
  ]) {
    const answer = await app.call('GET', `/api/v3/users/${id}`, { as: rootToken });
    t.is(answer.status, 404);
    t.deepEqual(answer.body, { message });
  }
});

test('without a token there is nothing to see', async (t) => {
  for (const path of ['/api/v3/users', '/api/v3/users/1', '/api/v3/user']) {
    t.is((await holder.app.call('GET', path)).status, 401);
  }
});

test('GET /user is everything about oneself, with the token; projects in the own namespace count', async (t) => {
  const { app } = holder;
  const user = await app.make.user({ projectsLimit: 1 });
  const before = await app.call<User>('GET', '/api/v3/user', { as: user.token });
  t.deepEqual(keysOf(before.body), [...fullKeys, 'private_token'].sort());
  t.like(before.body, { private_token: user.token, can_create_project: true, projects_limit: 1 });
  await app.make.project({ owner: user });
  const after = await app.call<User>('GET', '/api/v3/user', { as: user.token });
  t.false(after.body.can_create_project);
});

test('sudo: the token of the other user is shown to the administrator as to himself', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const answer = await app.call<User>('GET', '/api/v3/user', {
    as: rootToken,
    headers: { SUDO: String(user.id) },
  });
  t.is(answer.body.private_token, user.token);
});

test('sudo gives the rights of the other user and no more', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const query = { sudo: user.username };
  t.is((await app.call('GET', '/api/v3/runners/all', { as: rootToken, query })).status, 403);
  const seen = await app.call<User>('GET', '/api/v3/users/1', { as: rootToken, query });
  t.deepEqual(keysOf(seen.body), [...profileKeys].sort());
});

test('sudo as oneself is for everyone; as a blocked user for no one', async (t) => {
  const { app } = holder;
  const [user, blocked] = [await app.make.user(), await app.make.user({ state: 'blocked' })];
  for (const sudo of [user.username, String(user.id)]) {
    t.is((await app.call('GET', '/api/v3/user', { as: user.token, query: { sudo } })).status, 200);
  }
  const refused = await app.call('GET', '/api/v3/user', { as: rootToken, query: { sudo: blocked.username } });
  t.is(refused.status, 401);
  const bad = await app.call('GET', '/api/v3/user', { as: 'wrong', query: { sudo: 'root' } });
  t.is(bad.status, 401, 'the token is looked at first');
});
