import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp();

type User = Record<string, unknown> & { id: number; username: string };
type Call = { form?: Record<string, string>; json?: unknown; as?: string };

let count = 0;

/** What must be said of a new user; no two are the same. */
function fresh(more: Record<string, string> = {}): Record<string, string> {
  count += 1;
  const username = `new${count}`;
  return {
    username,
    name: 'New',
    email: `${username}@example.com`,
    password: 'long enough',
    projects_limit: '7',
    ...more,
  };
}

async function create(form: Record<string, string>) {
  return holder.app.call<User>('POST', '/api/v3/users', { as: rootToken, form });
}

async function change({ id }: { id: number }, call: Call) {
  return holder.app.call<User>('PUT', `/api/v3/users/${id}`, { as: rootToken, ...call });
}

function signIn(login: string, password: string) {
  return holder.app.call('POST', '/api/v3/session', { form: { login, password } });
}

const taken = ['has already been taken'];

test('a new user is answered as administrators see him in the list, and can sign in', async (t) => {
  const { app } = holder;
  const form = fresh({
    name: 'Ada',
    skype: 'ada1',
    linkedin: 'ada2',
    twitter: 'ada3',
    website_url: 'https://ada.example',
    bio: 'First',
    location: 'London',
    admin: 'true',
    can_create_group: 'false',
    provider: 'directory',
    extern_uid: 'uid=ada',
  });
  const answer = await create({ ...form, email: 'ADA@Example.com' });
  t.is(answer.status, 201);
  const { password, provider, extern_uid, admin, projects_limit, ...told } = form;
  t.like(answer.body, {
    ...told,
    email: 'ada@example.com',
    state: 'active',
    is_admin: true,
    can_create_group: false,
    can_create_project: true,
    projects_limit: 7,
    external: false,
    identities: [{ provider: 'directory', extern_uid: 'uid=ada' }],
    web_url: `${app.url}/u/${form.username}`,
  });
  t.truthy(answer.body.confirmed_at);
  const query = { username: form.username ?? '' };
  const list = await app.call<User[]>('GET', '/api/v3/users', { as: rootToken, query });
  t.deepEqual(list.body, [answer.body]);
  t.is((await signIn('ada@example.com', 'long enough')).status, 201);
  const [namespace] = await app.rows('select kind, path, name from namespaces where owner_id = $1', [
    answer.body.id,
  ]);
  t.deepEqual(namespace, { kind: 'user', path: form.username, name: form.username });
});

test('what is not said has its default; the limit of projects comes from the settings', async (t) => {
  const { app } = holder;
  await app.rows('update settings set default_projects_limit = 3');
  const { projects_limit, ...form } = fresh();
  const answer = await create(form);
  t.like(answer.body, {
    projects_limit: 3,
    is_admin: false,
    can_create_group: true,
    external: false,
    skype: '',
    website_url: '',
    bio: null,
    location: null,
    identities: [],
    theme_id: 1,
    color_scheme_id: 1,
  });
});

test('what is missing is told one by one, in the order of the interface', async (t) => {
  const form: Record<string, string> = {};
  for (const [name, value] of Object.entries({
    email: 'm@example.com',
    password: 'long enough',
    username: 'm',
  })) {
    const answer = await create(form);
    t.is(answer.status, 400);
    t.deepEqual(answer.body as unknown, { message: `400 (Bad request) "${name}" not given` });
    form[name] = value;
  }
  t.deepEqual((await create({ ...form, name: ' ' })).body as unknown, {
    message: '400 (Bad request) "name" not given',
  });
});

test('all that is wrong is told at once', async (t) => {
  const answer = await create({
    username: '-x',
    name: '<b></b>',
    email: 'nowhere',
    password: 'short',
    bio: 'x'.repeat(256),
    projects_limit: '-1',
  });
  t.is(answer.status, 400);
  t.deepEqual(answer.body.message, {
    username: ["can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.'."],
    name: ["can't be blank"],
    email: ['is invalid'],
    password: ['is too short (minimum is 8 characters)'],
    bio: ['is too long (maximum is 255 characters)'],
    projects_limit: ['must be greater than or equal to 0'],
  });
  const long = await create(fresh({ password: 'x'.repeat(129), username: 'Users' }));
  t.deepEqual(long.body.message, {
    username: ['Users is a reserved name'],
    password: ['is too long (maximum is 128 characters)'],
  });
});

test('an address or a name that another user has: 409; one of a group, or a further address: 400', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await app.rows('insert into emails (user_id, email) values ($1, $2)', [user.id, 'further@example.com']);
  await app.make.group({ path: 'Crew' });
  for (const [given, status, message] of [
    [{ email: `${user.username}@EXAMPLE.com` }, 409, 'Email has already been taken'],
    [{ username: user.username.toUpperCase() }, 409, 'Username has already been taken'],
    [{ username: user.username, email: `${user.username}@example.com` }, 409, 'Email has already been taken'],
    [{ username: 'crew' }, 400, { username: taken }],
    [{ email: 'Further@example.com' }, 400, { email: taken }],
  ] as const) {
    const answer = await create(fresh(given));
    t.is(answer.status, status);
    t.deepEqual(answer.body.message, message);
  }
});

test('an identity belongs to one user; half of it says nothing', async (t) => {
  const identity = { provider: 'directory', extern_uid: 'only one' };
  t.is((await create(fresh(identity))).status, 201);
  const again = await create(fresh(identity));
  t.is(again.status, 400);
  t.deepEqual(again.body.message, { identities: { extern_uid: taken } });
  t.deepEqual((await create(fresh({ provider: 'directory' }))).body.identities, []);
  t.is((await create(fresh({ ...identity, provider: 'other' }))).status, 201);
});

test('names come without HTML', async (t) => {
  const form = fresh({ name: '<script>x</script>Ada <b>L</b>', skype: '<i>s</i>', twitter: 'a < b' });
  const answer = await create(form);
  t.like(answer.body, { name: 'xAda L', skype: 's', twitter: 'a < b' });
});

test('external users have no projects and make no groups', async (t) => {
  const answer = await create(fresh({ external: '1', can_create_group: 'true' }));
  const external = { external: true, projects_limit: 0, can_create_group: false, can_create_project: false };
  t.like(answer.body, external);
  t.like((await change(answer.body, { form: { projects_limit: '5' } })).body, external);
  t.like((await change(answer.body, { form: { external: 'false', projects_limit: '5' } })).body, {
    external: false,
    projects_limit: 5,
  });
});

test.serial('addresses of new users are of the domains that the settings name', async (t) => {
  const { app } = holder;
  await app.rows("update settings set restricted_signup_domains = '{example.org,*.example.net}'");
  try {
    const answer = await create(fresh());
    t.is(answer.status, 400);
    const text = 'is not whitelisted. Email domains valid for registration are: example.org, *.example.net';
    t.deepEqual(answer.body.message, { email: [text] });
    t.is((await create(fresh({ email: 'd@a.Example.net' }))).status, 201);
    const user = await app.make.user();
    t.is((await change(user, { form: { email: 'elsewhere@example.com' } })).status, 200, 'only new users');
  } finally {
    await app.rows("update settings set restricted_signup_domains = '{}'");
  }
});

test.serial(
  'addresses are to be confirmed where the settings and the administrator ask for it',
  async (t) => {
    const { app } = holder;
    for (const confirm of ['true', 'yes', '1', 'false', '0']) {
      t.truthy((await create(fresh({ confirm }))).body.confirmed_at, confirm);
    }
    await app.rows('update settings set send_user_confirmation_email = true');
    try {
      t.is((await create(fresh())).body.confirmed_at, null);
      for (const confirm of ['false', 'f', 'no', '0', 'FALSE']) {
        t.truthy((await create(fresh({ confirm }))).body.confirmed_at, confirm);
      }
    } finally {
      await app.rows('update settings set send_user_confirmation_email = false');
    }
  },
);

test('a change leaves what is not given, and takes what is', async (t) => {
  const { app } = holder;
  const user = (await create(fresh({ bio: 'old', location: 'here' }))).body;
  const form = { name: 'Other', bio: 'new', admin: 'true', website_url: 'https://x.example', location: '' };
  const answer = await change(user, { form });
  t.is(answer.status, 200);
  t.deepEqual(answer.body, {
    ...user,
    name: 'Other',
    bio: 'new',
    is_admin: true,
    website_url: 'https://x.example',
  });
  const seen = await app.call<User>('GET', `/api/v3/users/${user.id}`, { as: rootToken });
  t.deepEqual(seen.body, answer.body);
  t.deepEqual((await change(user, { json: { admin: false, projects_limit: 0 } })).body, {
    ...answer.body,
    is_admin: false,
    projects_limit: 0,
    can_create_project: false,
  });
});

test('what is wrong with a change is told with 404, and nothing is changed', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  await app.rows('insert into emails (user_id, email) values ($1, $2)', [other.id, 'taken@example.com']);
  await app.make.group({ path: 'a-crew' });
  const cases: [Record<string, string>, object][] = [
    [{ email: `${other.username}@example.com` }, { email: taken }],
    [{ email: 'taken@example.com' }, { email: taken }],
    [{ username: other.username.toUpperCase() }, { username: taken }],
    [{ username: 'A-crew' }, { username: taken }],
    [
      { email: 'x', password: 'short' },
      { email: ['is invalid'], password: ['is too short (minimum is 8 characters)'] },
    ],
    [{ projects_limit: 'many' }, { projects_limit: ['is not a number'] }],
    [{ name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
  ];
  for (const [form, message] of cases) {
    const answer = await change(user, { form: { bio: 'changed', ...form } });
    t.is(answer.status, 404);
    t.deepEqual(answer.body.message, message);
  }
  const seen = await app.call<User>('GET', `/api/v3/users/${user.id}`, { as: rootToken });
  t.is(seen.body.bio, null);
  const absent = await change({ id: 999_999 }, { form: { name: 'x' } });
  t.is(absent.status, 404);
  t.deepEqual(absent.body as unknown, { message: '404 Not found' });
});

test('a new name moves the namespace with its projects; its own name in another case is free', async (t) => {
  const { app } = holder;
  const user = await app.make.user({ username: 'before' });
  const project = await app.make.project({ owner: user });
  t.is((await change(user, { form: { username: 'Before' } })).status, 200);
  const answer = await change(user, { form: { username: 'after' } });
  t.like(answer.body, { username: 'after', web_url: `${app.url}/u/after` });
  const moved = await app.call<{ path_with_namespace: string }>(
    'GET',
    `/api/v3/projects/after%2F${project.path}`,
    { as: user.token },
  );
  t.is(moved.body.path_with_namespace, `after/${project.path}`);
  const old = await app.call('GET', `/api/v3/projects/before%2F${project.path}`, { as: user.token });
  t.is(old.status, 404);
  t.is((await create(fresh({ username: 'before' }))).status, 201, 'the old name is free');
});

test('a further address that becomes the primary one changes places with it', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const emails = () => app.rows<{ email: string }>('select email from emails where user_id = $1', [user.id]);
  await app.rows('insert into emails (user_id, email) values ($1, $2)', [user.id, 'second@example.com']);
  t.is((await change(user, { form: { email: 'Second@example.com' } })).body.email, 'second@example.com');
  t.deepEqual(await emails(), [{ email: `${user.username}@example.com` }]);
  await app.rows("update users set notification_email = 'second@example.com' where id = $1", [user.id]);
  t.is((await change(user, { form: { email: 'third@example.com' } })).status, 200);
  t.deepEqual(await emails(), [{ email: `${user.username}@example.com` }]);
  const [row] = await app.rows('select email, notification_email from users where id = $1', [user.id]);
  t.deepEqual(row, { email: 'third@example.com', notification_email: null });
});

test('an identity of the same provider is replaced, one of another is added', async (t) => {
  const user = (await create(fresh({ provider: 'a', extern_uid: 'first' }))).body;
  await change(user, { form: { provider: 'b', extern_uid: 'of b' } });
  const answer = await change(user, { form: { provider: 'a', extern_uid: 'second' } });
  t.deepEqual(answer.body.identities, [
    { provider: 'a', extern_uid: 'second' },
    { provider: 'b', extern_uid: 'of b' },
  ]);
});

test('a new password ends what the old one has signed in to; the private token stays', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await app.rows("insert into web_sessions (digest, user_id) values ('\\\\x01', $1)", [user.id]);
  t.is((await change(user, { form: { password: 'quite another' } })).status, 200);
  t.is((await signIn(user.username, 'password')).status, 401);
  t.is((await signIn(user.username, 'quite another')).status, 201);
  t.is((await app.call('GET', '/api/v3/user', { as: user.token })).status, 200);
  t.deepEqual(await app.rows('select 1 from web_sessions where user_id = $1', [user.id]), []);
});

test('ordinary users change nobody, not even themselves', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  for (const [method, path] of [
    ['POST', '/users'],
    ['PUT', `/users/${user.id}`],
    ['DELETE', `/users/${user.id}`],
    ['PUT', `/users/${user.id}/block`],
    ['PUT', `/users/${user.id}/unblock`],
  ] as const) {
    const path3 = `/api/v3${path}`;
    t.is((await app.call(method, path3, { as: user.token, form: fresh() })).status, 403, path);
    t.is((await app.call(method, path3, { form: fresh() })).status, 401, path);
  }
});
