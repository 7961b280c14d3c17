import test from 'ava';
import { endSessions } from '../../server/oauth/end-sessions.ts';
import { type CallOptions, withApp } from '../support/app.ts';
import { password } from '../support/make.ts';
import {
  askFor,
  callback,
  challenge,
  codeFor,
  exchange,
  makeApplication,
  type Refusal,
  refresh,
  requestTokens,
  signedInBrowser,
  statusWith,
} from '../support/oauth.ts';

const holder = withApp();
const hex = /^[0-9a-f]{64}$/;

test('a user signs in, consents, and the program acts for him', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const user = await app.make.user();
  const path = askFor(application, { state: 'a b&c=1' });
  const { browser, page } = await signedInBrowser(app, { username: user.username, path });
  t.is(page.status, 200);
  t.regex(page.text, /A program/);
  const answer = await browser.submit(page);
  t.is(answer.status, 303);
  const location = new URL(answer.location ?? '');
  t.is(location.origin + location.pathname, callback);
  t.is(location.searchParams.get('state'), 'a b&c=1');
  const code = location.searchParams.get('code') ?? '';
  t.regex(code, hex);
  const { status, body, headers } = await exchange(app, application, code);
  t.is(status, 200);
  t.is(headers.get('cache-control'), 'no-store');
  t.deepEqual(Object.keys(body).sort(), [
    'access_token',
    'created_at',
    'expires_in',
    'refresh_token',
    'scope',
    'token_type',
  ]);
  t.like(body, { token_type: 'bearer', expires_in: 7200, scope: 'api' });
  t.regex(body.access_token, hex);
  t.regex(body.refresh_token, hex);
  const me = await app.call<{ id: number }>('GET', '/api/v3/user', {
    headers: { Authorization: `Bearer ${body.access_token}` },
  });
  t.is(me.body.id, user.id);
});

test('an access token goes in each of its places, and finds projects in one statement', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  const form = { grant_type: 'password', username: user.username, password };
  const { access_token } = (await requestTokens(app, null, form)).body;
  const path = `/api/v3/projects/${project.id}`;
  const places: CallOptions[] = [
    { query: { access_token } },
    { query: { bearer_token: access_token } },
    { headers: { Authorization: `Bearer ${access_token}` } },
  ];
  for (const place of places) t.is((await app.call('GET', path, place)).status, 200);
  t.is((await app.call('PUT', path, { form: { access_token, description: 'x' } })).status, 200);
  t.is((await app.call('GET', path, { query: { private_token: access_token } })).status, 401);
  const unknown = await app.call('GET', path, { query: { access_token: 'f'.repeat(64) } });
  t.is(unknown.status, 401);
  t.is(unknown.headers.get('www-authenticate'), null);
});

test('a code is exchanged once; a second time ends what came of the first', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { username } = await app.make.user();
  const code = await codeFor(app, application, { username });
  const first = await exchange(app, application, code);
  t.is(await statusWith(app, first.body.access_token), 200);
  const second = await exchange<Refusal>(app, application, code);
  t.is(second.status, 401);
  t.is(second.body.error, 'invalid_grant');
  t.is(await statusWith(app, first.body.access_token), 401);
  t.is((await refresh<Refusal>(app, application, first.body.refresh_token)).body.error, 'invalid_grant');
});

test('a code is bound to its program and its address, and over after ten minutes', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app, {
    redirect_uri: `${callback}\nhttps://client.example.com/b`,
  });
  const other = await makeApplication(app);
  const { username } = await app.make.user();
  const code = await codeFor(app, application, { username });
  t.is((await exchange<Refusal>(app, other, code)).body.error, 'invalid_grant');
  const elsewhere = { redirect_uri: 'https://client.example.com/b' };
  const wrong = await exchange<Refusal>(app, application, code, elsewhere);
  t.is(wrong.status, 401);
  t.regex(wrong.body.error, /^invalid_/);
  t.is((await exchange<Refusal>(app, application, code)).body.error, 'invalid_grant', 'used up by that');
  const third = await makeApplication(app);
  const late = await codeFor(app, third, { username });
  const [life] = await app.rows<{ seconds: number }>(
    'select extract(epoch from expires_at - created_at)::int as seconds from oauth_codes where application_id = $1',
    [third.id],
  );
  t.is(life?.seconds, 600);
  const past = "update oauth_codes set expires_at = now() - interval '1 second' where application_id = $1";
  await app.rows(past, [third.id]);
  t.is((await exchange<Refusal>(app, third, late)).body.error, 'invalid_grant');
});

test('a refresh rotates both tokens, and a used one ends the family', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { username } = await app.make.user();
  const first = (await exchange(app, application, await codeFor(app, application, { username }))).body;
  const second = await refresh(app, application, first.refresh_token);
  t.is(second.status, 200);
  t.not(second.body.access_token, first.access_token);
  t.not(second.body.refresh_token, first.refresh_token);
  t.is(await statusWith(app, first.access_token), 401, 'the old one is over');
  t.is(await statusWith(app, second.body.access_token), 200);
  const third = await refresh(app, application, second.body.refresh_token);
  t.is(third.status, 200);
  const stolen = await refresh<Refusal>(app, application, first.refresh_token);
  t.is(stolen.status, 401);
  t.is(stolen.body.error, 'invalid_grant');
  t.is(await statusWith(app, third.body.access_token), 401, 'the whole family is over');
  t.is((await refresh(app, application, third.body.refresh_token)).status, 401);
});

test('two exchanges of one refresh token at once: one gets tokens', async (t) => {
  const { app } = holder;
  const { username } = await app.make.user();
  const { body } = await requestTokens(app, null, { grant_type: 'password', username, password });
  const answers = await Promise.all([1, 2, 3].map(() => refresh(app, null, body.refresh_token)));
  t.is(answers.filter(({ status }) => status === 200).length, 1);
});

test('a program without a secret needs a challenge, and the right verifier', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app, { confidential: 'false' });
  t.is(application.secret, '');
  const { username } = await app.make.user();
  const { verifier, more } = challenge();
  const without = await signedInBrowser(app, { username, path: '/users/sign_in' });
  const bad: Record<string, string>[] = [
    {},
    { ...more, code_challenge_method: 'plain' },
    { ...more, code_challenge_method: 'S512' },
    { code_challenge: 'short', code_challenge_method: 'S256' },
  ];
  for (const parts of bad) {
    const { status, location } = await without.browser.get(askFor(application, parts));
    t.is(status, 303);
    t.is(new URL(location ?? '').searchParams.get('error'), 'invalid_request');
  }
  const code = await codeFor(app, application, { username, more });
  const { body } = await exchange(app, application, code, { code_verifier: verifier });
  t.is(await statusWith(app, body.access_token), 200);
  const again = await refresh(app, application, body.refresh_token);
  t.is(again.status, 200);
  for (const parts of [{ code_verifier: challenge().verifier }, { code_verifier: 'x' }, {}]) {
    const other = await codeFor(app, application, { username, more });
    const refused = await exchange<Refusal>(app, application, other, parts as Record<string, string>);
    t.is(refused.status, 401);
    t.regex(refused.body.error, /^invalid_(?:grant|request)$/);
    const right = await exchange<Refusal>(app, application, other, { code_verifier: verifier });
    t.is(right.status, 401, 'a failed try uses the code up');
  }
});

test('a program with a secret must show it, also beside a verifier', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { username } = await app.make.user();
  const { verifier, more } = challenge();
  const code = await codeFor(app, application, { username, more });
  const bare = { ...application, secret: '' };
  for (const [who, parts] of [
    [bare, { code_verifier: verifier }],
    [bare, {}],
    [{ ...application, secret: 'f'.repeat(64) }, { code_verifier: verifier }],
    [{ ...application, uid: 'f'.repeat(64) }, { code_verifier: verifier }],
  ] as const) {
    const refused = await exchange<Refusal>(app, who, code, { ...parts });
    t.is(refused.status, 401);
    t.is(refused.body.error, 'invalid_client');
    t.regex(refused.headers.get('www-authenticate') ?? '', /error="invalid_client"/);
  }
  const basic = Buffer.from(`${application.uid}:${application.secret}`).toString('base64');
  const answer = await app.call('POST', '/oauth/token', {
    headers: { Authorization: `Basic ${basic}` },
    form: { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier },
  });
  t.is(answer.status, 200);
});

test('a password gives tokens, with a program or without', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const form = { grant_type: 'password', username: `${user.username}@example.com`, password };
  const application = await makeApplication(app);
  for (const client of [null, application]) {
    const { status, body } = await requestTokens(app, client, form);
    t.is(status, 200);
    t.is(await statusWith(app, body.access_token), 200);
    t.is((await refresh(app, client, body.refresh_token)).status, 200);
  }
  const { body } = await requestTokens(app, null, form);
  t.is((await refresh<Refusal>(app, application, body.refresh_token)).body.error, 'invalid_grant');
  const json = await app.call('POST', '/oauth/token', { json: form });
  t.is(json.status, 200, 'JSON is read as well');
  await app.rows('update users set two_factor_enabled = true where id = $1', [user.id]);
  const two = await requestTokens<Refusal>(app, null, form);
  t.is(two.body.error, 'invalid_resource_owner');
});

test('any characters may be in a password', async (t) => {
  const { app } = holder;
  for (const wrong of ['pässwörd😀', '%', '%zz', 'a\tb', '\u0000x', '😀']) {
    const form = { grant_type: 'password', username: 'root', password: wrong };
    t.is((await requestTokens<Refusal>(app, null, form)).body.error, 'invalid_resource_owner', wrong);
    const json = await app.call<Refusal>('POST', '/oauth/token', { json: { ...form, username: '\ud800' } });
    t.is(json.body.error, 'invalid_resource_owner');
  }
});

test('a program gets tokens for itself that open nothing', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { status, body } = await requestTokens(app, application, { grant_type: 'client_credentials' });
  t.is(status, 200);
  t.false('refresh_token' in body);
  t.is(await statusWith(app, body.access_token), 401);
  const info = await app.call('GET', '/oauth/token/info', { query: { access_token: body.access_token } });
  t.like(info.body as object, { resource_owner_id: null, application: { uid: application.uid } });
  const open = await makeApplication(app, { confidential: 'false' });
  const refused = await requestTokens<Refusal>(app, open, { grant_type: 'client_credentials' });
  t.is(refused.status, 401);
});

test('what is wrong with a request for tokens is said in the words of OAuth', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const grant = 'authorization_code';
  const cases: [string, Record<string, string>][] = [
    ['invalid_request', {}],
    ['unsupported_grant_type', { grant_type: 'magic' }],
    ['unsupported_grant_type', { grant_type: 'constructor' }],
    ['invalid_request', { grant_type: grant }],
    ['invalid_grant', { grant_type: grant, code: 'f'.repeat(64), redirect_uri: callback }],
    ['invalid_request', { grant_type: 'password', username: 'root' }],
    ['invalid_resource_owner', { grant_type: 'password', username: 'root', password: 'wrong' }],
    ['invalid_resource_owner', { grant_type: 'password', username: 'nobody', password: 'wrong' }],
    ['invalid_scope', { grant_type: 'password', username: 'root', password: 'root-password', scope: 'sudo' }],
    ['invalid_grant', { grant_type: 'refresh_token', refresh_token: 'x' }],
  ];
  for (const [error, form] of cases) {
    const answer = await requestTokens<Refusal>(app, application, form);
    t.is(answer.status, 401, error);
    t.deepEqual(Object.keys(answer.body), ['error', 'error_description']);
    t.is(answer.body.error, error, JSON.stringify(form));
    t.is(answer.headers.get('cache-control'), 'no-store');
  }
  for (const [error, form] of cases.slice(0, 3)) {
    t.is((await requestTokens<Refusal>(app, null, form)).body.error, error, 'also where no program is named');
  }
  const headers = { 'Content-Type': 'application/json' };
  const broken = await app.call<Refusal>('POST', '/oauth/token', { headers, body: '{"a":' });
  t.is(broken.body.error, 'invalid_request');
  t.is((await app.call('GET', '/oauth/token')).status, 405);
});

test('a token is told of while it is in force, and ended by whoever holds it', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const user = await app.make.user();
  const form = { grant_type: 'password', username: user.username, password };
  const { body } = await requestTokens(app, application, form);
  const info = await app.call<{ expires_in_seconds: number }>('GET', '/oauth/token/info', {
    headers: { Authorization: `Bearer ${body.access_token}` },
  });
  const { expires_in_seconds, ...rest } = info.body;
  t.true(expires_in_seconds > 7000 && expires_in_seconds <= 7200);
  t.deepEqual(rest as object, {
    resource_owner_id: user.id,
    created_at: body.created_at,
    scopes: ['api'],
    application: { uid: application.uid },
  });
  const stranger = await makeApplication(app);
  const asStranger = { token: body.access_token, client_id: stranger.uid, client_secret: stranger.secret };
  t.is((await app.call('POST', '/oauth/revoke', { form: asStranger })).status, 200);
  t.is(await statusWith(app, body.access_token), 200, 'not his to end');
  const lying = await app.call<Refusal>('POST', '/oauth/revoke', {
    form: { ...asStranger, client_secret: 'wrong' },
  });
  t.is(lying.body.error, 'invalid_client');
  const ended = await app.call('POST', '/oauth/revoke', { form: { token: body.access_token } });
  t.is(ended.status, 200);
  t.deepEqual(ended.body, {});
  const after = await app.call('GET', '/api/v3/user', { query: { access_token: body.access_token } });
  t.is(after.status, 401);
  t.is(JSON.stringify(after.body), '{"message":"401 Unauthorized"}');
  t.regex(after.headers.get('www-authenticate') ?? '', /^Bearer realm="The API", error="invalid_token"/);
  t.is((await refresh(app, application, body.refresh_token)).status, 401);
  const gone = await app.call<Refusal>('GET', '/oauth/token/info', {
    query: { access_token: body.access_token },
  });
  t.is(gone.status, 401);
  t.is(gone.body.error, 'invalid_token');
  t.is((await app.call('POST', '/oauth/revoke', { form: { token: 'unknown' } })).status, 200);
});

test('a revoked refresh token ends what came of it', async (t) => {
  const { app } = holder;
  const { username } = await app.make.user();
  const first = (await requestTokens(app, null, { grant_type: 'password', username, password })).body;
  const second = (await refresh(app, null, first.refresh_token)).body;
  await app.call('POST', '/oauth/revoke', { form: { token: second.refresh_token } });
  t.is(await statusWith(app, second.access_token), 401);
});

test('an access token is over after two hours, on all kinds of endpoints', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  const form = { grant_type: 'password', username: user.username, password };
  const { body } = await requestTokens(app, null, form);
  await app.rows("update oauth_tokens set expires_at = now() - interval '1 second' where user_id = $1", [
    user.id,
  ]);
  for (const path of ['/api/v3/user', `/api/v3/projects/${project.id}`, '/api/v3/groups/nothing']) {
    const answer = await app.call('GET', path, { query: { access_token: body.access_token } });
    t.is(answer.status, 401, path);
    t.regex(answer.headers.get('www-authenticate') ?? '', /invalid_token/, path);
  }
  t.is((await refresh(app, null, body.refresh_token)).status, 200);
});

test('blocking ends access at once, and ended sessions leave nothing that goes on', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const user = await app.make.user();
  const form = { grant_type: 'password', username: user.username, password };
  const { body } = await requestTokens(app, application, form);
  const pending = await codeFor(app, await makeApplication(app), { username: user.username });
  const path = askFor(application);
  const { browser } = await signedInBrowser(app, { username: user.username, path });
  await app.rows("update users set state = 'blocked' where id = $1", [user.id]);
  t.is(await statusWith(app, body.access_token), 401);
  t.is((await refresh(app, application, body.refresh_token)).status, 401);
  t.regex((await browser.get('/users/sign_in')).text, /type="password"/);
  await app.rows("update users set state = 'active' where id = $1", [user.id]);
  t.is(await statusWith(app, body.access_token), 200);
  await endSessions(app.work, user.id);
  t.is(await statusWith(app, body.access_token), 401);
  t.is((await refresh(app, application, body.refresh_token)).status, 401);
  t.is((await exchange(app, application, pending)).status, 401);
  t.regex((await browser.get('/users/sign_in')).text, /type="password"/);
  t.is((await app.call('GET', '/api/v3/user', { as: user.token })).status, 200, 'the private token stays');
});

test('sudo goes with access tokens too', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const form = { grant_type: 'password', username: 'root', password: 'root-password' };
  const { access_token } = (await requestTokens(app, null, form)).body;
  const options = { query: { access_token, sudo: user.username } };
  const answer = await app.call<{ id: number }>('GET', '/api/v3/user', options);
  t.is(answer.body.id, user.id);
});

test('of what is stored nothing opens anything', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { username } = await app.make.user();
  const code = await codeFor(app, application, { username });
  const { body } = await exchange(app, application, code);
  const { browser } = await signedInBrowser(app, { username, path: '/users/sign_in' });
  const secrets = [
    application.secret,
    code,
    body.access_token,
    body.refresh_token,
    ...browser.cookies.values(),
  ];
  const tables = ['oauth_applications', 'oauth_codes', 'oauth_tokens', 'web_sessions', 'throttles'];
  for (const table of tables) {
    const text = JSON.stringify(await app.rows(`select t::text from ${table} t`));
    for (const secret of secrets) t.false(text.includes(secret), table);
  }
});
