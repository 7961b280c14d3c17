import test from 'ava';
import { recordPush } from '../../server/actions/record-push.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

function signIn(login: string, password: string) {
  return holder.app.call('POST', '/api/v3/session', { form: { login, password } });
}

test('blocking answers whether it changed anything', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const put = (verb: string) => app.call('PUT', `/api/v3/users/${user.id}/${verb}`, { as: rootToken });
  for (const [verb, body] of [
    ['unblock', false],
    ['block', true],
    ['block', false],
    ['unblock', true],
  ] as const) {
    const answer = await put(verb);
    t.is(answer.status, 200);
    t.is(answer.body, body);
  }
});

test('whom the directory has blocked, the interface neither blocks nor unblocks', async (t) => {
  const { app } = holder;
  const user = await app.make.user({ state: 'ldap_blocked' });
  for (const [verb, text] of [
    ['block', 'LDAP blocked users cannot be modified by the API'],
    ['unblock', 'LDAP blocked users cannot be unblocked by the API'],
  ]) {
    const answer = await app.call('PUT', `/api/v3/users/${user.id}/${verb}`, { as: rootToken });
    t.is(answer.status, 403);
    t.deepEqual(answer.body, { message: `403 Forbidden - ${text}` });
  }
  for (const verb of ['block', 'unblock']) {
    const absent = await app.call('PUT', `/api/v3/users/999999/${verb}`, { as: rootToken });
    t.is(absent.status, 404);
    t.deepEqual(absent.body, { message: '404 User Not Found' });
  }
});

/** Every way in, with the status of one who may. */
function waysIn(user: MadeUser, path: string): [string, () => Promise<{ status: number }>, number][] {
  const { app } = holder;
  const basic = (password: string) => ({
    headers: { Authorization: `Basic ${Buffer.from(`${user.username}:${password}`).toString('base64')}` },
  });
  const git = `/${path}.git/info/refs`;
  const query = { service: 'git-upload-pack' };
  return [
    ['token', () => app.call('GET', '/api/v3/user', { as: user.token }), 200],
    ['parameter', () => app.call('GET', '/api/v3/projects', { query: { private_token: user.token } }), 200],
    [
      'project',
      () => app.call('GET', `/api/v3/projects/${encodeURIComponent(path)}`, { as: user.token }),
      200,
    ],
    ['session', () => signIn(user.username, 'password'), 201],
    ['git with a password', () => app.call('GET', git, { query, ...basic('password') }), 200],
    ['git with a token', () => app.call('GET', git, { query, ...basic(user.token) }), 200],
    ['sudo', () => app.call('GET', '/api/v3/user', { as: rootToken, query: { sudo: user.username } }), 200],
  ];
}

test('a blocked user is refused everywhere at once, and let in again with what he had', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  const put = (verb: string) => app.call('PUT', `/api/v3/users/${user.id}/${verb}`, { as: rootToken });
  for (const [way, call, status] of waysIn(user, project.fullPath)) t.is((await call()).status, status, way);
  await put('block');
  for (const [way, call] of waysIn(user, project.fullPath)) t.is((await call()).status, 401, way);
  await put('unblock');
  for (const [way, call, status] of waysIn(user, project.fullPath)) t.is((await call()).status, status, way);
});

test('a push that began before its user was blocked moves nothing', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  const changes = [{ ref: 'refs/heads/master', oldSha: '0'.repeat(40), newSha: 'a'.repeat(40) }];
  const begin = () => recordPush(app.work, { projectId: project.id, userId: user.id, changes });
  t.true((await begin()) > 0);
  await app.call('PUT', `/api/v3/users/${user.id}/block`, { as: rootToken });
  await t.throwsAsync(begin, { message: '401 Unauthorized' });
  await app.call('DELETE', `/api/v3/users/${user.id}`, { as: rootToken });
  await t.throwsAsync(begin, { message: '401 Unauthorized' });
});
