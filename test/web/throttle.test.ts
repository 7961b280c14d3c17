import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { createApp } from '../../server/app.ts';
import { openOrm } from '../../server/orm.ts';
import { clientNetwork, isLoopback } from '../../server/policy/client-address.ts';
import type { Services } from '../../server/services.ts';
import { withApp } from '../support/app.ts';
import { Browser } from '../support/browser.ts';
import { password } from '../support/make.ts';
import { type Refusal, requestTokens } from '../support/oauth.ts';

const holder = withApp({ signInsPerMinute: 10 });
const session = '/api/v3/session';
const closers: (() => Promise<void>)[] = [];

test.after.always(async () => {
  for (const close of closers) await close();
});

test.serial.beforeEach(() => holder.app.rows('delete from throttles'));

/** Another server on the same database, to which every connection comes from `address`. */
async function serverFor(address: string): Promise<string> {
  const orm = await openOrm({ url: holder.app.databaseUrl, poolSize: 1 });
  const services: Services = { ...holder.app.services, orm };
  const server = createServer(createApp(services, { checkAnswers: true }).callback());
  server.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: address }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await orm.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function trySession(url: string, login: string, more: Record<string, string> = {}) {
  const body = new URLSearchParams({ login, password: 'wrong' });
  return fetch(`${url}${session}`, { method: 'POST', body, headers: more });
}

test.serial(
  'one address may try ten times a minute, whatever it tries and on whichever server',
  async (t) => {
    const { app } = holder;
    const urls = [app.url, await serverFor('127.0.0.1')];
    for (let n = 0; n < 10; n += 1) {
      t.is((await trySession(urls[n % 2] ?? '', `user${n}`)).status, 401);
    }
    for (const url of urls) {
      const answer = await trySession(url, 'root', { 'X-Forwarded-For': '203.0.113.99' });
      t.is(answer.status, 429);
      t.deepEqual(await answer.json(), { message: 'Retry later' });
      const wait = Number(answer.headers.get('retry-after'));
      t.true(wait >= 1 && wait <= 60);
    }
    const right = await app.call('POST', session, { form: { login: 'root', password: 'root-password' } });
    t.is(right.status, 429, 'also with the right password');
    const elsewhere = await trySession(await serverFor('203.0.113.1'), 'someone');
    t.is(elsewhere.status, 401, 'another address may');
    await app.rows("update throttles set expires_at = now() - interval '1 second'");
    const later = await app.call('POST', session, { form: { login: 'root', password: 'root-password' } });
    t.is(later.status, 201);
  },
);

test.serial('right passwords are not counted, wherever they are shown', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const form = { login: user.username, password };
  const browser = new Browser(app.url);
  const page = await browser.get('/users/sign_in');
  for (let n = 0; n < 6; n += 1) {
    t.is((await app.call('POST', session, { form })).status, 201);
    const granted = await requestTokens(app, null, {
      grant_type: 'password',
      username: user.username,
      password,
    });
    t.is(granted.status, 200);
  }
  t.is((await browser.submit(page, form)).status, 303);
  for (let n = 0; n < 10; n += 1) t.is((await trySession(app.url, user.username)).status, 401);
  t.is((await trySession(app.url, user.username)).status, 429);
});

test.serial('one account may be tried ten times a minute, from whichever address', async (t) => {
  const { username } = await holder.app.make.user();
  for (let n = 0; n < 5; n += 1) {
    const url = await serverFor(`203.0.113.${n}`);
    t.is((await trySession(url, username)).status, 401);
    t.is((await trySession(url, username.toUpperCase())).status, 401);
  }
  const url = await serverFor('203.0.113.77');
  t.is((await trySession(url, username)).status, 429);
  t.is((await trySession(url, 'another')).status, 401);
});

test.serial('pages and the password grant are counted together with the interface', async (t) => {
  const { app } = holder;
  const browser = new Browser(app.url);
  const page = await browser.get('/users/sign_in');
  for (let n = 0; n < 5; n += 1) {
    const form = { grant_type: 'password', username: `a${n}`, password };
    t.is((await requestTokens<Refusal>(app, null, form)).body.error, 'invalid_resource_owner');
    t.is((await browser.submit(page, { login: `b${n}`, password: 'wrong' })).status, 401);
  }
  const shown = await browser.submit(page, { login: 'root', password: 'root-password' });
  t.is(shown.status, 429);
  t.regex(shown.headers.get('content-type') ?? '', /^text\/html/);
  t.truthy(shown.headers.get('retry-after'));
  const form = { grant_type: 'password', username: 'root', password: 'root-password' };
  const granted = await requestTokens(app, null, form);
  t.is(granted.status, 429);
  t.is((await requestTokens(app, null, { grant_type: 'refresh_token', refresh_token: 'x' })).status, 401);
});

test.serial('what an address tries in vain is not counted against accounts', async (t) => {
  const { username } = await holder.app.make.user();
  for (let n = 0; n < 10; n += 1) await trySession(holder.app.url, `user${n}`);
  for (let n = 0; n < 10; n += 1) t.is((await trySession(holder.app.url, username)).status, 429);
  t.is((await trySession(await serverFor('203.0.113.44'), username)).status, 401);
});

test.serial('as many at once count as one after the other', async (t) => {
  const answers = await Promise.all(Array.from({ length: 15 }, () => trySession(holder.app.url, 'root')));
  t.is(answers.filter(({ status }) => status === 429).length, 5);
});

test.serial(
  'git with wrong credentials shuts an address out for an hour, but not this machine',
  async (t) => {
    const { app } = holder;
    const project = await app.make.project({ visibility: 'public' });
    const path = `/${project.fullPath}.git/info/refs?service=git-upload-pack`;
    const ask = (url: string, user: string, secret: string) => {
      const basic = Buffer.from(`${user}:${secret}`).toString('base64');
      return fetch(`${url}${path}`, { headers: { Authorization: `Basic ${basic}` } });
    };
    const [here, there] = [await serverFor('203.0.113.5'), await serverFor('203.0.113.6')];
    const wrong: [string, string][] = [
      [project.owner.username, 'wrong'],
      ['gitlab-ci-token', 'wrong'],
      ['oauth2', 'f'.repeat(64)],
      ['oauth2', 'wrong'],
      ['nobody', ''],
    ];
    for (const [user, secret] of [...wrong, ...wrong]) {
      t.is((await ask(app.url, user, secret)).status, 401);
      t.is((await ask(here, user, secret)).status, 401);
    }
    const banned = await ask(here, project.owner.username, project.owner.token);
    t.is(banned.status, 403);
    t.regex(await banned.text(), /too many failed attempts/);
    t.is((await ask(there, project.owner.username, project.owner.token)).status, 200);
    t.is((await ask(app.url, project.owner.username, project.owner.token)).status, 200);
    t.is((await fetch(`${here}${path}`)).status, 200, 'a public project needs no credentials');
    const [ban] = await app.rows<{ minutes: number }>(
      "select round(extract(epoch from expires_at - now()) / 60)::int as minutes from throttles where key like 'git%'",
    );
    t.is(ban?.minutes, 60);
    await app.rows("update throttles set expires_at = now() - interval '1 second'");
    t.is((await ask(here, project.owner.username, project.owner.token)).status, 200);
  },
);

test.serial('git fetches with an access token, and never pushes with it', async (t) => {
  const { app } = holder;
  const owner = await app.make.user();
  const project = await app.make.project({ owner });
  const form = { grant_type: 'password', username: owner.username, password };
  const { access_token } = (await requestTokens(app, null, form)).body;
  const basic = (secret: string) => `Basic ${Buffer.from(`oauth2:${secret}`).toString('base64')}`;
  const ask = async (service: string, secret: string) => {
    const query = { service };
    const headers = { Authorization: basic(secret) };
    const answer = await app.call('GET', `/${project.fullPath}.git/info/refs`, { query, headers });
    return answer.status;
  };
  t.is(await ask('git-upload-pack', access_token), 200);
  t.is(await ask('git-receive-pack', access_token), 403);
  await app.call('POST', '/oauth/revoke', { form: { token: access_token } });
  t.is(await ask('git-upload-pack', access_token), 401);
});

test.serial(
  'sessions, codes, tokens and counts that are over are forgotten, the others are not',
  async (t) => {
    const { app } = holder;
    const { id, username } = await app.make.user();
    const { body } = await requestTokens(app, null, { grant_type: 'password', username, password });
    const digest = (n: number) => `sha256('over ${n}')`;
    await app.rows(
      `insert into oauth_tokens (access_digest, refresh_digest, user_id, family, expires_at, refresh_expires_at) values
       (${digest(1)}, null, ${id}, gen_random_uuid(), now() - interval '1 minute', null),
       (${digest(2)}, ${digest(3)}, ${id}, gen_random_uuid(), now() - interval '1 day', now() - interval '1 minute'),
       (${digest(4)}, ${digest(5)}, ${id}, gen_random_uuid(), now() - interval '1 day', now() + interval '1 minute')`,
    );
    await app.rows(
      `insert into web_sessions (digest, user_id, created_at) values
       (${digest(6)}, ${id}, now() - interval '8 days'), (${digest(7)}, ${id}, now())`,
    );
    await app.rows("insert into throttles values ('old', 1, now() - interval '1 second')");
    await app.services.queue.add(app.work.em, 'forget_over', {});
    await app.runTasks();
    const count = async (table: string) =>
      (await app.rows<{ n: number }>(`select count(*)::int as n from ${table} where user_id = ${id}`))[0]?.n;
    t.is(await count('oauth_tokens'), 2);
    t.is(await count('web_sessions'), 1);
    t.deepEqual(await app.rows("select 1 from throttles where key = 'old'"), []);
    t.is((await app.call('GET', '/api/v3/user', { query: { access_token: body.access_token } })).status, 200);
  },
);

test('one client is an IPv4 address or the network of an IPv6 subscriber', (t) => {
  t.is(clientNetwork('203.0.113.5'), '203.0.113.5');
  t.is(clientNetwork('::ffff:203.0.113.5'), '203.0.113.5');
  t.is(clientNetwork('2001:db8:1:2:3:4:5:6'), clientNetwork('2001:db8:1:2::1'));
  t.not(clientNetwork('2001:db8:1:2::1'), clientNetwork('2001:db8:1:3::1'));
  t.is(clientNetwork(''), '');
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) t.true(isLoopback(address));
  for (const address of ['10.0.0.1', '::', '', '::ffff:10.0.0.1']) t.false(isLoopback(address));
});
