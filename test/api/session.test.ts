import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { password } from '../support/make.ts';

const holder = withApp();

interface Session {
  id: number;
  username: string;
  private_token: string;
}

test('the right password gives the user with his private token', async (t) => {
  const { app } = holder;
  const answer = await app.call<Session>('POST', '/api/v3/session', {
    form: { login: 'ROOT', password: 'root-password' },
  });
  t.is(answer.status, 201);
  t.is(answer.body.private_token, rootToken);
  t.is(answer.headers.get('content-type'), 'application/json');
});

test('a login with an @ is an e-mail address, in either parameter', async (t) => {
  for (const name of ['login', 'email']) {
    const answer = await holder.app.call<Session>('POST', '/api/v3/session', {
      json: { [name]: 'Admin@example.com', password: 'root-password' },
    });
    t.is(answer.status, 201, name);
  }
});

test('a wrong, an empty and an absent password', async (t) => {
  for (const password of ['wrong', '']) {
    const answer = await holder.app.call('POST', '/api/v3/session', { form: { login: 'root', password } });
    t.is(answer.status, 401);
    t.deepEqual(answer.body, { message: '401 Unauthorized' });
  }
  const absent = await holder.app.call('POST', '/api/v3/session', { form: { login: 'root' } });
  t.is(absent.status, 400);
  t.deepEqual(absent.body, { message: '400 (Bad request) "password" not given' });
});

test('a blocked user cannot sign in, nor use his token', async (t) => {
  const { app } = holder;
  const user = await app.make.user({ state: 'blocked' });
  t.is((await app.call('GET', '/api/v3/user', { as: user.token })).status, 401);
  const signIn = { form: { login: user.username, password } };
  t.is((await app.call('POST', '/api/v3/session', signIn)).status, 401);
});

test('GET /user tells oneself, whatever way the token comes', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const ways = [
    app.call<Session>('GET', '/api/v3/user', { as: user.token }),
    app.call<Session>('GET', '/api/v3/user', { query: { private_token: user.token } }),
    app.call<Session>('GET', '/api/v3/user.json/', { query: { private_token: user.token } }),
    app.call<Session>('GET', '/api/v3//user', { as: rootToken, headers: { SUDO: user.username } }),
    app.call<Session>('GET', '/api/v3/user', { as: rootToken, query: { sudo: String(user.id) } }),
  ];
  for (const answer of await Promise.all(ways)) {
    t.is(answer.status, 200);
    t.is(answer.body.id, user.id);
    t.is(answer.body.private_token, user.token);
  }
});

test('no token and a wrong one are told the same, byte by byte', async (t) => {
  for (const as of [undefined, 'x'.repeat(20)]) {
    const answer = await holder.app.call('GET', '/api/v3/user', { as });
    t.is(answer.status, 401);
    t.is(JSON.stringify(answer.body), '{"message":"401 Unauthorized"}');
  }
});

test('sudo is for administrators, and only to users that exist', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const denied = await app.call('GET', '/api/v3/user', { as: user.token, query: { sudo: 'root' } });
  t.is(denied.status, 403);
  t.deepEqual(denied.body, { message: '403 Forbidden: Must be admin to use sudo' });
  const unknown = await app.call('GET', '/api/v3/user', { as: rootToken, query: { sudo: 'nobody-here' } });
  t.is(unknown.status, 404);
  t.deepEqual(unknown.body, { message: '404 Not Found: No user id or username for: nobody-here' });
});

test('digits in sudo are an id, also where they are a name', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const named = await app.make.user({ username: String(user.id), isAdmin: true });
  const answer = await app.call<Session>('GET', '/api/v3/user', {
    as: named.token,
    query: { sudo: named.username },
  });
  t.is(answer.body.id, user.id);
  for (const sudo of ['99999999999999999999', '2147483648', '0']) {
    const unknown = await app.call('GET', '/api/v3/user', { as: rootToken, query: { sudo } });
    t.is(unknown.status, 404);
    t.deepEqual(unknown.body, { message: `404 Not Found: No user id or username for: ${sudo}` });
  }
});

test('oneself in sudo means nothing, for anybody, on every kind of endpoint', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  for (const sudo of [String(user.id), user.username]) {
    for (const path of ['/api/v3/user', `/api/v3/projects/${project.id}`]) {
      t.is((await app.call('GET', path, { as: user.token, query: { sudo } })).status, 200, path);
      t.is((await app.call('GET', path, { as: user.token, headers: { SUDO: sudo } })).status, 200, path);
    }
  }
  const other = await app.make.user();
  for (const path of ['/api/v3/user', `/api/v3/projects/${project.id}`, '/api/v3/groups/1']) {
    const denied = await app.call('GET', path, { as: user.token, headers: { sudo: other.username } });
    t.is(denied.status, 403, path);
  }
});

test('sudo comes after the token, in body, query and header, and never makes more of its user', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const blocked = await app.make.user({ state: 'blocked' });
  const path = '/api/v3/applications';
  const form = { name: 'x', redirect_uri: 'https://a/' };
  const wrong = await app.call('GET', '/api/v3/user', { as: 'x'.repeat(20), query: { sudo: 'root' } });
  t.is(wrong.status, 401);
  const asUser = [
    app.call('POST', path, { as: rootToken, form: { ...form, sudo: user.username } }),
    app.call('POST', path, { as: rootToken, json: { ...form, sudo: user.id } }),
    app.call('POST', path, { as: rootToken, form, query: { sudo: user.username } }),
    app.call('POST', path, { as: rootToken, form, headers: { SUDO: user.username } }),
    app.call('POST', path, { as: rootToken, form: { ...form, sudo: '' }, headers: { SUDO: user.username } }),
  ];
  for (const { status } of await Promise.all(asUser)) t.is(status, 403);
  const asBlocked = await app.call('GET', '/api/v3/user', {
    as: rootToken,
    query: { sudo: blocked.username },
  });
  t.is(asBlocked.status, 401);
  for (const sudo of [[user.username], { name: user.username }]) {
    t.is((await app.call('POST', path, { as: rootToken, json: { ...form, sudo } })).status, 404);
  }
  const listed = await app.call('POST', path, { as: rootToken, form: { ...form, 'sudo[]': user.username } });
  t.is(listed.status, 404, 'taken for nothing, it would be done as root');
});
