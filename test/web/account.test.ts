import test from 'ava';
import { type TestApp, withApp } from '../support/app.ts';
import { Browser, formsOf } from '../support/browser.ts';
import { cloneUrl, tryGit } from '../support/git.ts';
import { signedInBrowser } from '../support/oauth.ts';

const holder = withApp();
const account = '/profile/account';
const reset = '/profile/reset_private_token';

async function statusWith(app: TestApp, token: string): Promise<number> {
  return (await app.call('GET', '/api/v3/user', { as: token })).status;
}

function tokenOn(page: string): string {
  return /<code>([\w-]{20})<\/code>/.exec(page)?.[1] ?? '';
}

test('a user sees his private token, and gets another one: the old one ends at once', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const { username, token } = project.owner;
  const { browser, page: home } = await signedInBrowser(app, { username, path: '/users/sign_in' });
  t.true(home.text.includes(`href="${account}"`));
  const page = await browser.get(account);
  t.is(page.status, 200);
  t.is(tokenOn(page.text), token);
  t.is(page.headers.get('cache-control'), 'no-store');
  const answer = await browser.submit(page);
  t.is(answer.status, 303);
  t.is(answer.location, account);
  const fresh = tokenOn((await browser.get(account)).text);
  t.not(fresh, token);
  t.is(await statusWith(app, token), 401);
  t.is(await statusWith(app, fresh), 200);
  t.is((await app.call('GET', '/api/v3/user', { query: { private_token: token } })).status, 401);
  for (const [password, code] of [
    [token, 128],
    [fresh, 0],
  ] as const) {
    const url = cloneUrl(app, project, { user: username, password });
    t.is((await tryGit('/', ['ls-remote', url])).code, code);
  }
});

test('the same with PUT, and with no other verb', async (t) => {
  const { app } = holder;
  const { username, token } = await app.make.user();
  const { browser } = await signedInBrowser(app, { username, path: '/users/sign_in' });
  const fields = formsOf((await browser.get(account)).text)[0]?.fields ?? {};
  t.is((await browser.send('PATCH', reset, fields)).status, 405);
  t.is((await browser.get(`${reset}?${new URLSearchParams(fields)}`)).status, 405);
  t.is(await statusWith(app, token), 200);
  t.is((await browser.send('PUT', reset, fields)).status, 303);
  t.is(await statusWith(app, token), 401);
});

test('a form of another page or another browser replaces nothing', async (t) => {
  const { app } = holder;
  const [user, other] = [await app.make.user(), await app.make.user()];
  const { browser } = await signedInBrowser(app, { ...user, path: '/users/sign_in' });
  const stranger = await signedInBrowser(app, { ...other, path: '/users/sign_in' });
  const foreign = formsOf((await stranger.browser.get(account)).text)[0]?.fields ?? {};
  for (const fields of [{}, foreign]) {
    for (const method of ['POST', 'PUT']) t.is((await browser.send(method, reset, fields)).status, 403);
  }
  t.is(await statusWith(app, user.token), 200);
  t.is(await statusWith(app, other.token), 200);
});

test('without a session there is nothing to see and nothing to replace, whatever token is sent', async (t) => {
  const { app } = holder;
  const { token } = await app.make.user();
  const browser = new Browser(app.url);
  const page = await browser.get(`${account}?private_token=${token}`);
  t.regex(page.text, /<h1>Sign in<\/h1>/);
  t.is(tokenOn(page.text), '');
  const form = formsOf(page.text)[0]?.fields ?? {};
  for (const method of ['POST', 'PUT']) {
    const answer = await browser.send(method, reset, { ...form, private_token: token });
    t.is(answer.status, 303);
    t.is(answer.location, '/users/sign_in');
  }
  t.is(await statusWith(app, token), 200);
});

test('the address of the server leads a user who is signed in to his page', async (t) => {
  const { app } = holder;
  const { browser } = await signedInBrowser(app, { ...(await app.make.user()), path: '/users/sign_in' });
  const answer = await browser.get('/');
  t.is(answer.status, 303);
  t.is(answer.location, '/users/sign_in');
});
