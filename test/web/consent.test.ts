import test from 'ava';
import fc from 'fast-check';
import { withApp } from '../support/app.ts';
import { Browser, formsOf } from '../support/browser.ts';
import { password } from '../support/make.ts';
import { askFor, callback, challenge, exchange, makeApplication, signedInBrowser } from '../support/oauth.ts';

const holder = withApp();

test('a page says that the address is not the program’s, and leads nowhere', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { browser } = await signedInBrowser(app, { ...(await app.make.user()), path: '/users/sign_in' });
  const wrong: Record<string, string>[] = [
    { redirect_uri: 'https://evil.example.com/' },
    { redirect_uri: `${callback}/more` },
    { redirect_uri: `${callback}?a=b` },
    { redirect_uri: callback.toUpperCase() },
    { redirect_uri: `${callback}#x` },
    { redirect_uri: '//client.example.com/callback' },
    { redirect_uri: 'javascript:alert(1)' },
    { redirect_uri: '' },
    { client_id: 'f'.repeat(64) },
    { client_id: '' },
    { state: 'x'.repeat(4097) },
  ];
  for (const more of wrong) {
    const page = await browser.get(askFor(application, more));
    t.is(page.status, 400, JSON.stringify(more));
    t.is(page.location, null);
    t.deepEqual(formsOf(page.text), []);
  }
});

test('other faults are told to the program, with its state', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app, { redirect_uri: 'https://client.example.com/cb?fixed=1' });
  const browser = new Browser(app.url);
  for (const [error, more] of [
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { response_type: '' }],
    ['invalid_scope', { scope: 'sudo' }],
    ['invalid_request', { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }],
  ] as const) {
    const redirect_uri = 'https://client.example.com/cb?fixed=1';
    const { status, location } = await browser.get(
      askFor(application, { redirect_uri, state: 's', ...more }),
    );
    t.is(status, 303);
    const found = new URL(location ?? '');
    t.is(found.searchParams.get('fixed'), '1');
    t.is(found.searchParams.get('error'), error);
    t.is(found.searchParams.get('state'), 's');
    t.is(found.searchParams.get('code'), null);
  }
});

test('whoever says no sends the program away, by form and by method', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { username } = await app.make.user();
  const path = askFor(application, { state: 'kept' });
  const { browser, page } = await signedInBrowser(app, { username, path });
  const denied = await browser.submit(page, { decision: 'deny' });
  const [form] = formsOf(page.text);
  const deleted = await browser.send('DELETE', '/oauth/authorize', form?.fields);
  for (const { status, location } of [denied, deleted]) {
    t.is(status, 303);
    const found = new URL(location ?? '');
    t.is(found.searchParams.get('error'), 'access_denied');
    t.is(found.searchParams.get('state'), 'kept');
  }
  t.deepEqual(await app.rows('select 1 from oauth_codes where application_id = $1', [application.id]), []);
});

test('a program that acts already is not asked for again, unless it has no secret', async (t) => {
  const { app } = holder;
  const { username } = await app.make.user();
  for (const confidential of ['true', 'false']) {
    const application = await makeApplication(app, { confidential });
    const { verifier, more } = challenge();
    const path = askFor(application, more);
    const { browser, page } = await signedInBrowser(app, { username, path });
    const { location } = await browser.submit(page);
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    t.is((await exchange(app, application, code, { code_verifier: verifier })).status, 200);
    const again = await browser.get(path);
    t.is(again.status, confidential === 'true' ? 303 : 200);
    if (again.location) t.regex(again.location, /[?&]code=[0-9a-f]{64}$/);
  }
});

test('a form that is not of our pages does nothing', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const { username } = await app.make.user();
  const { browser, page } = await signedInBrowser(app, { username, path: askFor(application) });
  const other = await signedInBrowser(app, { username, path: askFor(application) });
  const theirs = formsOf(other.page.text)[0]?.fields.form_token ?? '';
  for (const form_token of ['', 'f'.repeat(64), theirs]) {
    t.is((await browser.submit(page, { form_token })).status, 403);
    const out = await browser.submit(page, { form_token }, '/users/sign_out');
    t.is(out.status, 403);
  }
  const stranger = new Browser(app.url);
  const form = { ...formsOf(page.text)[0]?.fields };
  const withoutSession = await stranger.send('POST', '/oauth/authorize', form);
  t.is(withoutSession.status, 303);
  t.regex(withoutSession.location ?? '', /^\/oauth\/authorize\?/);
  const login = { login: username, password, form_token: 'f'.repeat(64) };
  t.is((await stranger.send('POST', '/users/sign_in', login)).status, 403);
  t.is((await browser.submit(page)).status, 303, 'the page itself still works');
});

test('signing in takes a new name for the session, and signing out ends it', async (t) => {
  const { app } = holder;
  const { username, id } = await app.make.user();
  const browser = new Browser(app.url);
  browser.cookies.set('hearth_session', 'f'.repeat(64));
  const first = await browser.submit(await browser.get('/users/sign_in'), { login: username, password });
  t.is(first.location, '/users/sign_in');
  const token = browser.cookies.get('hearth_session') ?? '';
  t.not(token, 'f'.repeat(64));
  const line = browser.cookieLines.find((text) => text.startsWith('hearth_session=')) ?? '';
  t.regex(line, /; path=\/; /);
  t.regex(line, /samesite=lax/i);
  t.regex(line, /httponly/i);
  t.notRegex(line, /secure/i);
  const page = await browser.get('/users/sign_in');
  t.true(page.text.includes(username));
  const [user] = await app.rows<{ signed: boolean }>(
    'select current_sign_in_at is not null as signed from users where id = $1',
    [id],
  );
  t.true(user?.signed);
  const out = await browser.submit(page);
  t.is(out.location, '/users/sign_in');
  t.false(browser.cookies.has('hearth_session'));
  browser.cookies.set('hearth_session', token);
  t.regex((await browser.get('/users/sign_in')).text, /type="password"/);
});

test('a session lasts as long as the setting says', async (t) => {
  const { app } = holder;
  const { browser, page } = await signedInBrowser(app, {
    ...(await app.make.user()),
    path: '/users/sign_in',
  });
  t.notRegex(page.text, /type="password"/);
  const token = browser.cookies.get('hearth_session') ?? '';
  const age = (minutes: number) =>
    app.rows(
      `update web_sessions set created_at = now() - make_interval(mins => $2)
       where digest = sha256(convert_to($1, 'UTF8'))`,
      [token, minutes],
    );
  await age(10_079);
  t.notRegex((await browser.get('/users/sign_in')).text, /type="password"/);
  await age(10_081);
  t.regex((await browser.get('/users/sign_in')).text, /type="password"/);
});

test('wrong passwords, blocked users, two factors and further addresses do not sign in', async (t) => {
  const { app } = holder;
  const two = await app.make.user();
  await app.rows('update users set two_factor_enabled = true where id = $1', [two.id]);
  const blocked = await app.make.user({ state: 'blocked' });
  const further = await app.make.user();
  await app.rows('insert into emails (user_id, email) values ($1, $2)', [further.id, 'second@example.com']);
  const browser = new Browser(app.url);
  const page = await browser.get('/users/sign_in');
  for (const filled of [
    { login: 'root', password: 'wrong' },
    { login: 'nobody', password },
    { login: two.username, password },
    { login: blocked.username, password },
    { login: 'second@example.com', password },
    { login: '', password },
  ]) {
    const answer = await browser.submit(page, filled);
    t.is(answer.status, 401, filled.login);
    t.regex(answer.text, /role="alert"/);
    t.notRegex(answer.text, new RegExp(`value="${password}"`));
    t.false(browser.cookies.has('hearth_session'));
    const session = await app.call('POST', '/api/v3/session', { form: filled });
    t.is(session.status, filled.login === '' ? 400 : 401, filled.login);
  }
});

test('pages escape what they show, run nothing, and are framed and kept by nobody', async (t) => {
  const { app } = holder;
  const evil = '"><script>alert(1)</script>\'&';
  const redirect_uri = "https://client.example.com/'x&y=z";
  const application = await makeApplication(app, { name: evil, redirect_uri });
  const { username } = await app.make.user();
  const path = askFor(application, { redirect_uri, state: '"><img src=x>' });
  const { browser, page } = await signedInBrowser(app, { username, path });
  const failed = await new Browser(app.url).get(askFor(application, { redirect_uri: evil }));
  const stranger = new Browser(app.url);
  const wrong = await stranger.submit(await stranger.get(path), { login: evil, password: 'wrong' });
  for (const { text, headers } of [page, failed, wrong]) {
    t.notRegex(text, /<script|<img|'x&y/);
    const policy = headers.get('content-security-policy') ?? '';
    t.regex(policy, /default-src 'none'/);
    t.regex(policy, /frame-ancestors 'none'/);
    t.regex(policy, /form-action 'self'/);
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('x-content-type-options'), 'nosniff');
  }
  t.regex(
    page.headers.get('content-security-policy') ?? '',
    /form-action 'self' https:\/\/client\.example\.com$/,
  );
  t.is(formsOf(page.text)[0]?.fields.state, '"><img src=x>');
  const done = await browser.submit(page);
  t.is(done.headers.get('referrer-policy'), 'no-referrer');
  t.is(done.headers.get('cache-control'), 'no-store');
});

test('another account can be taken on the way', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const [first, second] = [await app.make.user(), await app.make.user()];
  const path = askFor(application, { state: 'kept' });
  const { browser, page } = await signedInBrowser(app, { ...first, path });
  const out = await browser.submit(page, {}, '/users/sign_out');
  const form = await browser.get(out.location ?? '');
  const back = await browser.submit(form, { login: second.username, password });
  const consent = await browser.get(back.location ?? '');
  t.true(consent.text.includes(second.username));
  const done = await browser.submit(consent);
  t.is(new URL(done.location ?? '').searchParams.get('state'), 'kept');
});

test('an address of a program’s own scheme is gone to as well', async (t) => {
  const { app } = holder;
  const redirect_uri = 'com.example.app:/back';
  const application = await makeApplication(app, { redirect_uri, confidential: 'false' });
  const { more } = challenge();
  const path = askFor(application, { ...more, redirect_uri });
  const { browser, page } = await signedInBrowser(app, { ...(await app.make.user()), path });
  t.regex(page.headers.get('content-security-policy') ?? '', /form-action 'self' com\.example\.app:$/);
  t.regex((await browser.submit(page)).location ?? '', /^com\.example\.app:\/back\?code=/);
});

/** Requests for consent, with addresses that are nearly the registered ones. */
function strangeRequests(registered: string[], uid: string) {
  const part = fc.constantFrom(
    '',
    '/',
    '//',
    '\\',
    '@',
    '#',
    '?',
    '%2f',
    '..',
    '.evil.com',
    'https:',
    '\t',
    '\n',
    'x',
  );
  const address = fc.oneof(
    fc.constantFrom(...registered),
    fc.tuple(part, fc.constantFrom(...registered), part, part).map((parts) => parts.join('')),
    fc.constantFrom(
      '//evil.com',
      'https://evil.com',
      '/\\evil.com',
      'javascript:alert(1)',
      ' https://evil.com',
    ),
    fc.string(),
  );
  return fc.record(
    {
      redirect_uri: address,
      state: fc.string(),
      response_type: fc.constantFrom('code', 'token', ''),
      scope: fc.constantFrom('api', 'x'),
      client_id: fc.constantFrom(uid, 'x'),
      decision: fc.constantFrom('approve', 'deny'),
      return_to: address,
      after_sign_out_path: address,
    },
    { requiredKeys: ['redirect_uri', 'client_id'] },
  );
}

test('no redirect ever leaves the registered addresses', async (t) => {
  const { app } = holder;
  const registered = [callback, 'https://client.example.com/b?x=1', 'com.example.app:/cb'];
  const application = await makeApplication(app, { redirect_uri: registered.join('\n') });
  const { browser } = await signedInBrowser(app, { ...(await app.make.user()), path: '/users/sign_in' });
  const form_token = formsOf((await browser.get(askFor(application))).text)[0]?.fields.form_token ?? '';
  const request = strangeRequests(registered, application.uid);
  const way = fc.constantFrom(
    'GET /oauth/authorize',
    'POST /oauth/authorize',
    'DELETE /oauth/authorize',
    'POST /users/sign_in',
  );
  let redirects = 0;
  await fc.assert(
    fc.asyncProperty(request, way, async (params, where) => {
      const [method = '', path = ''] = where.split(' ');
      const given = { response_type: 'code', ...params };
      const isGet = method === 'GET';
      const target = isGet ? `${path}?${new URLSearchParams(given)}` : path;
      const form = { ...given, form_token, login: 'x', password: 'x' };
      const answer = await browser.send(method, target, isGet ? undefined : form);
      if (answer.status >= 500) throw new Error(`${answer.status}`);
      if (answer.location === null) return;
      redirects += 1;
      const isOurs = /^\/(?:oauth\/authorize\?|users\/sign_in$)/.test(answer.location);
      const isTheirs = registered.some((uri) => {
        const separator = uri.includes('?') ? '&' : '?';
        return answer.location?.startsWith(`${uri}${separator}`);
      });
      if (!isOurs && !isTheirs) throw new Error(`led to ${answer.location}`);
    }),
    { numRuns: 1000 },
  );
  t.true(redirects > 20);
});
