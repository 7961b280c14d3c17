import { access } from 'node:fs/promises';
import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

type Project = Record<string, unknown> & { id: number; message?: unknown };

function create(user: MadeUser | null, json: Record<string, unknown>): Promise<Answer<Project>> {
  return holder.app.call<Project>('POST', '/api/v3/projects', { as: user?.token ?? rootToken, json });
}

test('a name is enough: the rest has defaults', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const { status, body } = await create(user, { name: 'Diaspora Client 2' });
  t.is(status, 201);
  t.like(body, {
    name: 'Diaspora Client 2',
    path: 'diaspora-client-2',
    path_with_namespace: `${user.username}/diaspora-client-2`,
    description: null,
    default_branch: null,
    visibility_level: 0,
    public: false,
    issues_enabled: true,
    merge_requests_enabled: true,
    builds_enabled: true,
    wiki_enabled: true,
    snippets_enabled: false,
    shared_runners_enabled: true,
    public_builds: true,
    archived: false,
    creator_id: user.id,
    star_count: 0,
    forks_count: 0,
  });
  t.regex(String(body.runners_token), /^[\w-]{20}$/);
  t.false('permissions' in body);
  await t.notThrowsAsync(access(repositoryDir(app.services.repositoriesDir, body.id)));
  const members = await app.rows('select user_id, access_level from project_members where project_id = $1', [
    body.id,
  ]);
  t.deepEqual(members, [{ user_id: user.id, access_level: 40 }]);
  const events = await app.rows('select author_id, action from events where project_id = $1', [body.id]);
  t.deepEqual(events, [{ author_id: user.id, action: 'created' }]);
  const again = await app.call<Project>('GET', `/api/v3/projects/${body.id}`, { as: user.token });
  const { permissions, import_status, import_error, ...shown } = again.body;
  t.deepEqual(shown, body);
  t.truthy(permissions);
  t.deepEqual([import_status, import_error], ['none', null]);
});

test('every attribute can be given, as a form too', async (t) => {
  const user = await holder.app.make.user();
  const given = {
    description: 'Text, with\nlines',
    issues_enabled: false,
    merge_requests_enabled: false,
    builds_enabled: false,
    wiki_enabled: false,
    snippets_enabled: true,
    public_builds: false,
    visibility_level: 10,
  };
  const json = await create(user, { name: 'json', path: 'Own.Path', ...given });
  t.like(json.body, { ...given, path: 'Own.Path' });
  const form = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
  const sent = await holder.app.call<Project>('POST', '/api/v3/projects', {
    as: user.token,
    form: { name: 'form', ...form },
  });
  t.is(sent.status, 201);
  t.like(sent.body, { ...given, path: 'form' });
});

test('without a name, and without a token', async (t) => {
  const user = await holder.app.make.user();
  for (const json of [{}, { name: null }, { name: '' }, { name: '  ' }, { path: 'p' }]) {
    const answer = await create(user, json);
    t.is(answer.status, 400);
    t.is(answer.body.message, '400 (Bad request) "name" not given');
  }
  t.is((await holder.app.call('POST', '/api/v3/projects', { json: { name: 'x' } })).status, 401);
});

test('names and paths that are none', async (t) => {
  const user = await holder.app.make.user();
  const nameText =
    "can contain only letters, digits, '_', '.', dash and space. It must start with letter, digit or '_'.";
  const pathText =
    "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";
  const cases: [Record<string, unknown>, object][] = [
    [{ name: '-dash' }, { name: [nameText] }],
    [{ name: 'a/b' }, { name: [nameText] }],
    [{ name: 'a<b>' }, { name: [nameText] }],
    [{ name: 'a\u0000b' }, { name: ['is invalid'] }],
    [{ name: 'a\nb' }, { name: [nameText] }],
    [{ name: 'x'.repeat(256), path: 'p' }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'ok', path: '-dash' }, { path: [pathText] }],
    [{ name: 'ok', path: 'with space' }, { path: [pathText] }],
    [{ name: 'ok', path: 'x.git' }, { path: [pathText] }],
    [{ name: 'ok', path: 'x.atom' }, { path: [pathText] }],
    [{ name: 'ok', path: '..' }, { path: [pathText] }],
    [{ name: 'ok', path: 'a/b' }, { path: [pathText] }],
    [{ name: 'ok', path: 'ä' }, { path: [pathText] }],
    [{ name: 'ok', path: 'x'.repeat(256) }, { path: ['is too long (maximum is 255 characters)'] }],
    [
      { name: '!', path: '!' },
      { name: [nameText], path: [pathText] },
    ],
    [
      { name: 'ok', description: 'x'.repeat(2001) },
      { description: ['is too long (maximum is 2000 characters)'] },
    ],
    [{ name: 'ok', visibility_level: 5 }, { visibility_level: ['is not included in the list'] }],
    [{ name: 'ok', visibility_level: 'x' }, { visibility_level: ['is not a number'] }],
    [{ name: 'ok', namespace_id: 999_999 }, { namespace: ['is not valid'] }],
  ];
  for (const [json, message] of cases) {
    const answer = await create(user, json);
    t.is(answer.status, 400, JSON.stringify(json));
    t.deepEqual(answer.body, { message } as never);
  }
});

test('paths made from names', async (t) => {
  const user = await holder.app.make.user({ projectsLimit: 100 });
  const paths = {
    'Über Größe': 'uber-grosse',
    Straße: 'strasse',
    Łódź: 'lodz',
    Проект: 'proekt',
    'Майский йод': 'mayskiy-yod',
    Ελληνικά: 'ellinika',
    [`a${'щ'.repeat(100)}`]: `a${'sch'.repeat(84)}sc`,
    _x: '_x',
    'a.b - c': 'a.b-c',
    'Two  Blanks ': 'two-blanks',
    '2nd': '2nd',
  };
  for (const [name, path] of Object.entries(paths)) {
    const answer = await create(user, { name });
    t.is(answer.status, 201, name);
    t.is(answer.body.path, path);
  }
  const nothing = await create(user, { name: '日本語' });
  t.is(nothing.status, 400);
  t.deepEqual(nothing.body, { message: { path: ["can't be blank"] } } as never);
});

test('the same name or path twice in a namespace', async (t) => {
  const user = await holder.app.make.user();
  const taken = ['has already been taken'];
  t.is((await create(user, { name: 'Twice' })).status, 201);
  const cases: [Record<string, string>, Record<string, string[]>][] = [
    [{ name: 'Twice' }, { name: taken, path: taken }],
    [{ name: 'other', path: 'TWICE' }, { path: taken }],
    [{ name: 'Twice', path: 'other' }, { name: taken }],
  ];
  for (const [json, faults] of cases) {
    const answer = await create(user, json);
    t.is(answer.status, 400, JSON.stringify(json));
    t.deepEqual(answer.body.message, faults);
  }
  const elsewhere = await create(await holder.app.make.user(), { name: 'Twice' });
  t.is(elsewhere.status, 201);
});

test('the limit counts projects of the own namespace only', async (t) => {
  const { make, rows } = holder.app;
  const user = await make.user({ projectsLimit: 1 });
  const group = await make.group();
  await make.groupMember(group, user, 'master');
  t.is((await create(user, { name: 'first' })).status, 201);
  const refused = await create(user, { name: 'second' });
  t.is(refused.status, 403);
  t.deepEqual(refused.body, {
    message: 'Your project limit is 1 projects! Please contact your administrator to increase it',
  } as never);
  t.is((await create(user, { name: 'second', namespace_id: group })).status, 201);
  await rows('update projects set pending_delete = true where namespace_id = $1', [user.namespaceId]);
  t.is((await create(user, { name: 'second' })).status, 201, 'one that is being deleted counts no more');
});

test('namespaces: the own, groups from master on; others are not valid', async (t) => {
  const { make, rows } = holder.app;
  const group = await make.group();
  const other = await make.user();
  const allowed = { guest: 400, reporter: 400, developer: 400, master: 201, owner: 201 } as const;
  for (const [level, status] of Object.entries(allowed)) {
    const user = await make.user();
    await make.groupMember(group, user, level as keyof typeof allowed);
    const answer = await create(user, { name: `by ${level}`, namespace_id: group });
    t.is(answer.status, status, level);
    if (status === 400) t.deepEqual(answer.body.message, { namespace: ['is not valid'] });
    if (status !== 201) continue;
    t.like(answer.body.namespace, { id: group });
    t.false('owner' in answer.body);
    t.deepEqual(await rows('select 1 from project_members where project_id = $1', [answer.body.id]), []);
  }
  const user = await make.user();
  t.is((await create(user, { name: 'own', namespace_id: user.namespaceId })).status, 201);
  t.is((await create(user, { name: 'x', namespace_id: other.namespaceId })).status, 400);
  t.is((await create(null, { name: 'by admin', namespace_id: group })).status, 201);
  t.is((await create(null, { name: 'by admin', namespace_id: other.namespaceId })).status, 201);
});

test('visibility: a level, or the word public, which does not count beside a level', async (t) => {
  const user = await holder.app.make.user();
  const cases: [Record<string, unknown>, number][] = [
    [{ public: true }, 20],
    [{ public: 'false' }, 0],
    [{ public: true, visibility_level: 10 }, 10],
    [{ visibility_level: '20' }, 20],
    [{ visibility_level: 0 }, 0],
  ];
  for (const [index, [given, level]] of cases.entries()) {
    const { status, body } = await create(user, { name: `v${index}`, ...given });
    t.is(status, 201);
    t.like(body, { visibility_level: level, public: level === 20 });
  }
});

test.serial('visibility: the default of the instance, and levels that it restricts', async (t) => {
  const { make, rows } = holder.app;
  const user = await make.user();
  await rows(`update settings set restricted_visibility_levels = '{20}', default_project_visibility = 10`);
  t.teardown(() =>
    rows(`update settings set restricted_visibility_levels = '{}', default_project_visibility = 0`).then(
      () => {},
    ),
  );
  t.is((await create(user, { name: 'default' })).body.visibility_level, 10);
  for (const given of [{ visibility_level: 20 }, { public: true }]) {
    const answer = await create(user, { name: 'open', ...given });
    t.is(answer.status, 400);
    t.deepEqual(answer.body.message, {
      visibility_level: ['public has been restricted by your GitLab administrator'],
    });
  }
  t.is((await create(null, { name: 'admins may', visibility_level: 20 })).status, 201);
});

test('visibility: no more than the group has', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const [inner, hidden] = [
    await make.group({ visibility: 'internal' }),
    await make.group({ visibility: 'private' }),
  ];
  for (const group of [inner, hidden]) await make.groupMember(group, user, 'owner');
  const above = await create(user, { name: 'a', namespace_id: inner, visibility_level: 20 });
  t.is(above.status, 400);
  t.deepEqual(above.body.message, { visibility_level: ['public is not allowed in a internal group.'] });
  const admins = await create(null, { name: 'a', namespace_id: hidden, public: true });
  t.deepEqual(admins.body.message, { visibility_level: ['public is not allowed in a private group.'] });
  t.is((await create(user, { name: 'b', namespace_id: inner, visibility_level: 10 })).status, 201);
});

test('nothing is left of a project that could not be made', async (t) => {
  const { make, rows } = holder.app;
  const user = await make.user();
  t.is((await create(user, { name: 'x', visibility_level: 7 })).status, 400);
  t.deepEqual(await rows('select 1 from projects where creator_id = $1', [user.id]), []);
});

test('administrators make projects for others', async (t) => {
  const { make, call, rows } = holder.app;
  const user = await make.user({ projectsLimit: 1 });
  const createFor = (id: number | string, json: Record<string, unknown>, as = rootToken) =>
    call<Project>('POST', `/api/v3/projects/user/${id}`, { as, json });
  const { status, body } = await createFor(user.id, { name: 'For You', path: 'ignored', namespace_id: 1 });
  t.is(status, 201);
  t.like(body, { path_with_namespace: `${user.username}/for-you`, creator_id: user.id });
  t.like(body.owner, { id: user.id });
  t.regex(String(body.runners_token), /^[\w-]{20}$/);
  t.deepEqual(await rows('select user_id from project_members where project_id = $1', [body.id]), [
    { user_id: user.id },
  ]);
  t.deepEqual(await rows('select author_id, action from events where project_id = $1', [body.id]), [
    { author_id: user.id, action: 'created' },
  ]);
  t.is((await createFor(user.id, { name: 'One more' })).status, 403);
  const blank = { name: ["can't be blank"], path: ["can't be blank"] };
  t.deepEqual((await createFor(user.id, {})).body.message, blank);
  for (const id of [999_999, 'x']) t.is((await createFor(id, { name: 'a' })).status, 404);
  t.is((await createFor(999_999, {})).body.message, '404 User Not Found');
  t.is((await createFor(user.id, { name: 'a' }, user.token)).status, 403);
});

test.serial('shared runners: as the administrator wants it for new projects', async (t) => {
  const { make, rows } = holder.app;
  await rows('update settings set shared_runners_enabled = false');
  t.teardown(() => rows('update settings set shared_runners_enabled = true').then(() => {}));
  t.false((await create(await make.user(), { name: 'Alone' })).body.shared_runners_enabled);
});

test('a namespace that is being removed takes no project', async (t) => {
  const { make, rows } = holder.app;
  const user = await make.user();
  const group = await make.group();
  await make.groupMember(group, user, 'owner');
  await rows('update namespaces set pending_delete = true where id = $1', [group]);
  const refused = await create(user, { name: 'a', namespace_id: group });
  t.is(refused.status, 400);
  t.deepEqual(refused.body.message, { namespace: ['is not valid'] });
});
