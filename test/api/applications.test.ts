import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp();
const admins = '/api/v3/applications';
const own = '/api/v3/user/applications';

interface Application {
  id: number;
  application_id: string;
  application_name: string;
  callback_url: string;
  confidential: boolean;
  owner_id: number | null;
  secret?: string | null;
}

test.serial('an administrator registers a program; its secret is told once', async (t) => {
  const { app } = holder;
  const form = { name: 'Tool', redirect_uri: 'https://a.example.com/cb\r\nhttp://localhost:8080/' };
  const { status, body } = await app.call<Application>('POST', admins, { as: rootToken, form });
  t.is(status, 201);
  t.regex(body.application_id, /^[0-9a-f]{64}$/);
  t.regex(body.secret ?? '', /^[0-9a-f]{64}$/);
  t.like(body, { application_name: 'Tool', confidential: true, owner_id: null });
  t.is(body.callback_url, 'https://a.example.com/cb\nhttp://localhost:8080/');
  const list = await app.call<Application[]>('GET', admins, { as: rootToken });
  t.is(list.headers.get('x-total'), '1');
  t.false(JSON.stringify(list.body).includes(body.secret ?? ''));
  const removed = await app.call<Application>('DELETE', `${admins}/${body.id}`, { as: rootToken });
  t.is(removed.status, 200);
  t.is(removed.body.id, body.id);
  const again = await app.call('DELETE', `${admins}/${body.id}`, { as: rootToken });
  t.is(again.status, 404);
  t.deepEqual(again.body, { message: '404 Application Not Found' });
});

test.serial('a list of addresses, and programs that keep no secret', async (t) => {
  const json = { name: 'x', redirect_uri: ['app:/a', 'com.example:/b'], confidential: false, scopes: 'api' };
  const { body } = await holder.app.call<Application>('POST', admins, { as: rootToken, json });
  t.is(body.secret, null);
  t.is(body.callback_url, 'app:/a\ncom.example:/b');
});

test.serial('addresses that nobody can be called back at are refused', async (t) => {
  const { app } = holder;
  const cases: [string, string][] = [
    ['/relative', 'must be an absolute URI'],
    ['//host/path', 'must be an absolute URI'],
    ['example.com', 'must be an absolute URI'],
    ['https:', 'must be an absolute URI'],
    ['https://a.example.com/#x', 'cannot contain a fragment'],
    ['https://a.example.com/#', 'cannot contain a fragment'],
    ['javascript:alert(1)', 'is invalid'],
    ['JavaScript:alert(1)', 'is invalid'],
    ['data:text/html,x', 'is invalid'],
    ['file:///etc/passwd', 'is invalid'],
    ['https:///path', 'is invalid'],
    ['https:/host', 'is invalid'],
    ['https://user@host/', 'is invalid'],
    ['https://a.example.com\\@evil.com/', 'is invalid'],
    ['https://a;script-src.example.com/', 'is invalid'],
    ['https://exämple.com/', 'is invalid'],
    [`https://a.example.com/${'x'.repeat(2000)}`, 'is too long (maximum is 2000 characters)'],
  ];
  for (const [uri, fault] of cases) {
    const form = { name: 'x', redirect_uri: `https://good.example.com/\n${uri}` };
    const { status, body } = await app.call('POST', admins, { as: rootToken, form });
    t.is(status, 400, uri);
    t.deepEqual(body, { message: { redirect_uri: [fault] } }, uri);
  }
  const map = await app.call('POST', admins, { as: rootToken, json: { name: 'x', redirect_uri: { a: 1 } } });
  t.deepEqual(map.body, { message: { redirect_uri: ['is invalid'] } });
  const blank = await app.call('POST', admins, { as: rootToken, json: { name: 'x', redirect_uri: [' '] } });
  t.deepEqual(blank.body, { message: { redirect_uri: ["can't be blank"] } });
});

test.serial('what is missing, and scopes that there are not', async (t) => {
  const { app } = holder;
  const nameless = await app.call('POST', admins, { as: rootToken, form: { redirect_uri: 'https://a/' } });
  t.deepEqual(nameless.body, { message: '400 (Bad request) "name" not given' });
  const homeless = await app.call('POST', admins, { as: rootToken, form: { name: 'x' } });
  t.deepEqual(homeless.body, { message: '400 (Bad request) "redirect_uri" not given' });
  const form = { name: 'x', redirect_uri: 'https://a/', scopes: 'api sudo' };
  t.is((await app.call('POST', admins, { as: rootToken, form })).status, 400);
});

test.serial('users manage their own where they may, and see nothing of others', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  const form = { name: 'Mine', redirect_uri: 'https://mine.example.com/' };
  const made = await app.call<Application>('POST', own, { as: user.token, form });
  t.is(made.status, 201);
  t.is(made.body.owner_id, user.id);
  t.is((await app.call<Application[]>('GET', own, { as: user.token })).body.length, 1);
  t.deepEqual((await app.call('GET', own, { as: other.token })).body, []);
  t.is((await app.call('DELETE', `${own}/${made.body.id}`, { as: other.token })).status, 404);
  t.is((await app.call('GET', admins, { as: user.token })).status, 403);
  await app.rows('update settings set user_oauth_applications = false');
  t.is((await app.call('POST', own, { as: user.token, form })).status, 403);
  t.is((await app.call('POST', own, { as: rootToken, form })).status, 201);
  await app.rows('update settings set user_oauth_applications = true');
  t.is((await app.call('DELETE', `${own}/${made.body.id}`, { as: user.token })).status, 200);
});

test.serial('lists are paged, newest first', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  for (const name of ['a', 'b', 'c']) {
    await app.call('POST', own, { as: user.token, form: { name, redirect_uri: 'https://a/' } });
  }
  const query = { per_page: '2' };
  const page = await app.call<Application[]>('GET', own, { as: user.token, query });
  t.deepEqual(
    page.body.map(({ application_name }) => application_name),
    ['c', 'b'],
  );
  t.is(page.headers.get('x-total'), '3');
});
