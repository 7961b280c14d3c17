import test from 'ava';
import { keyByFingerprint } from '../../server/queries/ssh-keys.ts';
import { rootToken, withApp } from '../support/app.ts';
import { opensshKeys } from '../support/openssh-keys.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';

const holder = withApp();

interface Key {
  id: number;
  title: string;
  key: string;
  created_at: string;
}

interface Email {
  id: number;
  email: string;
}

const taken = ['has already been taken'];

function call<T>(method: string, path: string, given: { as: string; form?: Record<string, string> }) {
  return holder.app.call<T>(method, `/api/v3${path}`, given);
}

async function addKey(as: string, word: string): Promise<Key> {
  const answer = await call<Key>('POST', '/user/keys', { as, form: { title: word, key: sshKeyLine(word) } });
  return answer.body;
}

async function addEmail(as: string, email: string): Promise<Email> {
  return (await call<Email>('POST', '/user/emails', { as, form: { email } })).body;
}

test('a key is stored as one line, listed newest first, and found by what OpenSSH prints of it', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const { line, md5, sha256 } = opensshKeys['ed25519 256'];
  const form = { title: ' laptop ', key: `  ${line}\n` };
  const first = await call<Key>('POST', '/user/keys', { as: user.token, form });
  t.is(first.status, 201);
  t.deepEqual(Object.keys(first.body).sort(), ['created_at', 'id', 'key', 'title']);
  t.like(first.body, { title: 'laptop', key: line.replace('a b  c', 'a b c') });
  const second = await addKey(user.token, 'the second');
  const list = await call<Key[]>('GET', '/user/keys', { as: user.token });
  t.deepEqual(list.body, [second, first.body]);
  t.is(list.headers.get('x-total'), '2');
  t.deepEqual((await call('GET', `/user/keys/${first.body.id}`, { as: user.token })).body, first.body);
  const found = await keyByFingerprint(app.work.em, sha256);
  t.like(found, { id: first.body.id, user_id: user.id, fingerprint: md5 });
  await app.rows("update users set state = 'blocked' where id = $1", [user.id]);
  t.is(await keyByFingerprint(app.work.em, sha256), null, 'of nobody who is blocked');
});

test('what is missing is told before what is wrong, the title first', async (t) => {
  const { token } = await holder.app.make.user();
  const key = sshKeyLine('missing');
  const missing = (name: string) => ({ message: `400 (Bad request) "${name}" not given` });
  for (const [form, message] of [
    [{ key }, missing('title')],
    [{ title: 't' }, missing('key')],
    [{ title: 't', key: ' ' }, missing('key')],
    [{}, missing('title')],
    [{ title: 'x'.repeat(256), key }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [{ title: 't', key: 'fake' }, { message: { key: ['is invalid'], fingerprint: ['cannot be generated'] } }],
    [
      { title: 'x'.repeat(256), key: 'fake' },
      {
        message: {
          title: ['is too long (maximum is 255 characters)'],
          key: ['is invalid'],
          fingerprint: ['cannot be generated'],
        },
      },
    ],
    [{ title: 't', key: 'ssh-rsa fake' }, { message: { fingerprint: ['cannot be generated'] } }],
  ] as [Record<string, string>, object][]) {
    const answer = await call('POST', '/user/keys', { as: token, form });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, message);
  }
});

test('nobody has a key that somebody has, whatever is written around it', async (t) => {
  const { app } = holder;
  const [first, second] = [await app.make.user(), await app.make.user()];
  await addKey(first.token, 'only one');
  for (const as of [first.token, second.token]) {
    const form = { title: 'again', key: sshKeyLine('only one', 'another comment') };
    const answer = await call('POST', '/user/keys', { as, form });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { message: { fingerprint: taken, key: taken } });
  }
});

test('keys of others are not there; removing what is not there is no fault', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  const key = await addKey(user.token, 'of one user');
  for (const as of [other.token, rootToken]) {
    const seen = await call('GET', `/user/keys/${key.id}`, { as });
    t.is(seen.status, 404);
    t.deepEqual(seen.body, { message: '404 Not found' });
    const removed = await call('DELETE', `/user/keys/${key.id}`, { as });
    t.is(removed.status, 200);
    t.is(removed.body, null);
  }
  const gone = await call<Record<string, unknown>>('DELETE', `/user/keys/${key.id}`, { as: user.token });
  t.is(gone.status, 200);
  t.like(gone.body, { ...key, user_id: user.id, type: null, public: false });
  t.regex(String(gone.body.fingerprint), /^(?:[0-9a-f]{2}:){15}[0-9a-f]{2}$/);
  t.is((await call('DELETE', `/user/keys/${key.id}`, { as: user.token })).body, null);
  t.deepEqual((await call('GET', '/user/keys', { as: user.token })).body, []);
});

test('administrators see, add and remove keys of others; what is wrong is told with 404', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  const form = { title: 'by root', key: sshKeyLine('by root') };
  const added = await call<Key>('POST', `/users/${user.id}/keys`, { as: rootToken, form });
  t.is(added.status, 201);
  t.deepEqual((await call('GET', `/users/${user.id}/keys`, { as: rootToken })).body, [added.body]);
  t.deepEqual((await call('GET', '/user/keys', { as: user.token })).body, [added.body]);
  const again = await call('POST', `/users/${other.id}/keys`, { as: rootToken, form });
  t.is(again.status, 404);
  t.deepEqual(again.body, { message: { fingerprint: taken, key: taken } });
  const wrong = { title: 'x'.repeat(256), key: form.key };
  const long = await call('POST', `/users/${user.id}/keys`, { as: rootToken, form: wrong });
  t.is(long.status, 404);
  t.deepEqual(long.body, { message: { title: ['is too long (maximum is 255 characters)'] } });
  const missing = await call('POST', `/users/${user.id}/keys`, { as: rootToken, form: { title: 't' } });
  t.is(missing.status, 400);
  t.deepEqual(missing.body, { message: '400 (Bad request) "key" not given' });
  const foreign = await call('DELETE', `/users/${other.id}/keys/${added.body.id}`, { as: rootToken });
  t.is(foreign.status, 404);
  t.deepEqual(foreign.body, { message: '404 Key Not Found' });
  const removed = await call('DELETE', `/users/${user.id}/keys/${added.body.id}`, { as: rootToken });
  t.is(removed.status, 200);
  t.like(removed.body, { id: added.body.id, user_id: user.id });
});

test('keys and addresses of a user who is not there', async (t) => {
  for (const [method, path] of [
    ['GET', '/keys'],
    ['POST', '/keys'],
    ['DELETE', '/keys/1'],
    ['GET', '/emails'],
    ['POST', '/emails'],
    ['DELETE', '/emails/1'],
  ] as const) {
    const form = { title: 't', key: sshKeyLine('of nobody'), email: 'nobody@example.com' };
    const sent = method === 'POST' ? { as: rootToken, form } : { as: rootToken };
    const answer = await call(method, `/users/999999${path}`, sent);
    t.is(answer.status, 404);
    t.deepEqual(answer.body, { message: '404 User Not Found' }, `${method} ${path}`);
  }
});

test('GET /keys/:id tells an administrator whose key it is', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const key = await addKey(user.token, 'whose');
  const answer = await call<Record<string, unknown>>('GET', `/keys/${key.id}`, { as: rootToken });
  const full = await call('GET', `/users/${user.id}`, { as: rootToken });
  t.deepEqual(answer.body, { ...key, user: full.body });
  const absent = await call('GET', '/keys/999999', { as: rootToken });
  t.is(absent.status, 404);
  t.deepEqual(absent.body, { message: '404 Not found' });
});

test('addresses are stored in lower case, listed newest first, and removed without a fault', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const first = await call<Email>('POST', '/user/emails', {
    as: user.token,
    form: { email: ' First@Ada.example ' },
  });
  t.is(first.status, 201);
  t.deepEqual(first.body, { id: first.body.id, email: 'first@ada.example' });
  const second = await addEmail(user.token, 'second@ada.example');
  t.deepEqual((await call('GET', '/user/emails', { as: user.token })).body, [second, first.body]);
  t.deepEqual((await call('GET', `/user/emails/${second.id}`, { as: user.token })).body, second);
  await app.rows("update users set notification_email = 'second@ada.example' where id = $1", [user.id]);
  const removed = await call('DELETE', `/user/emails/${second.id}`, { as: user.token });
  t.is(removed.status, 200);
  t.like(removed.body, { ...second, user_id: user.id });
  const again = await call('DELETE', `/user/emails/${second.id}`, { as: user.token });
  t.is(again.status, 200);
  t.is(again.body, null);
  t.is((await call('GET', `/user/emails/${second.id}`, { as: user.token })).status, 404);
  const [row] = await app.rows('select notification_email from users where id = $1', [user.id]);
  t.deepEqual(row, { notification_email: null }, 'mail goes to the primary address again');
});

test('an address is of one user, be it his primary one or a further one', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  await addEmail(other.token, 'others@example.com');
  for (const [email, texts] of [
    [`${other.username}@Example.com`, taken],
    [`${user.username}@example.com`, taken],
    ['OTHERS@example.com', taken],
    ['no address', ['is invalid']],
    [`a@${'b'.repeat(300)}`, ['is too long (maximum is 255 characters)']],
  ] as const) {
    const own = await call('POST', '/user/emails', { as: user.token, form: { email } });
    t.is(own.status, 400);
    t.deepEqual(own.body, { message: { email: texts } });
    const byRoot = await call('POST', `/users/${user.id}/emails`, { as: rootToken, form: { email } });
    t.is(byRoot.status, 404);
    t.deepEqual(byRoot.body, own.body);
  }
  const missing = await call('POST', '/user/emails', { as: user.token, form: {} });
  t.deepEqual(missing.body, { message: '400 (Bad request) "email" not given' });
});

test('addresses of others are not there, but for administrators under their user', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  const added = await call<Email>('POST', `/users/${user.id}/emails`, {
    as: rootToken,
    form: { email: 'added@by.root' },
  });
  t.is(added.status, 201);
  t.deepEqual((await call('GET', `/users/${user.id}/emails`, { as: rootToken })).body, [added.body]);
  const path = `/user/emails/${added.body.id}`;
  for (const as of [other.token, rootToken]) {
    t.is((await call('GET', path, { as })).status, 404);
    t.is((await call('DELETE', path, { as })).body, null);
  }
  const foreign = await call('DELETE', `/users/${other.id}/emails/${added.body.id}`, { as: rootToken });
  t.is(foreign.status, 404);
  t.deepEqual(foreign.body, { message: '404 Email Not Found' });
  const removed = await call('DELETE', `/users/${user.id}/emails/${added.body.id}`, { as: rootToken });
  t.like(removed.body, { ...added.body, user_id: user.id });
});

test('a further address is no way to sign in', async (t) => {
  const user = await holder.app.make.user();
  await addEmail(user.token, 'way.in@example.com');
  const form = { login: 'way.in@example.com', password: 'password' };
  t.is((await holder.app.call('POST', '/api/v3/session', { form })).status, 401);
});

test('the lists have pages', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  for (const word of ['1', '2', '3']) {
    await addKey(user.token, `page ${word}`);
    await addEmail(user.token, `page${word}@example.com`);
  }
  for (const path of ['/user/keys', '/user/emails', `/users/${user.id}/keys`, `/users/${user.id}/emails`]) {
    const query = { per_page: '2', page: '2' };
    const answer = await app.call<unknown[]>('GET', `/api/v3${path}`, {
      as: path.startsWith('/users') ? rootToken : user.token,
      query,
    });
    t.is(answer.body.length, 1);
    t.is(answer.headers.get('x-total'), '3');
  }
});
