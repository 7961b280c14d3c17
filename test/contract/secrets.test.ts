import test from 'ava';
import { type Answer, type CallOptions, registrationToken, rootToken, withApp } from '../support/app.ts';
import { formsOf } from '../support/browser.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import { password } from '../support/make.ts';
import { askFor, exchange, makeApplication, refresh, signedInBrowser } from '../support/oauth.ts';

const holder = withApp();
const trees = withWorkTrees();

/** What is sent in wrong places and with wrong values; a typing error of today is often the right value elsewhere. */
const wrong = { token: 'wrong-token-98765432', password: 'wrong-password-1' };
const traceText = 'output-nobody-should-log';
const ciFile = 'compile:\n  script: make\n';

/** Each answer of the session, for its errors and links. */
const answers: Answer[] = [];

async function call<T = unknown>(
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<T>> {
  const answer = await holder.app.call<T>(method, path, options);
  answers.push(answer);
  return answer;
}

test.serial('nothing secret of a whole session gets into the log, an error or a link', async (t) => {
  const secrets = await wholeSession();
  t.is(new Set(secrets).size, secrets.length);
  await holder.app.runAllTasks();
  const { logLines } = holder.app;
  t.true(
    logLines.some((line) => line.includes('/builds/register')),
    'requests were logged',
  );
  t.true(
    logLines.some((line) => line.includes('git-receive-pack')),
    'the push was logged',
  );
  t.deepEqual(leaks(logLines, secrets), []);
  const errors = answers.filter(({ status }) => status >= 400).map(({ body }) => JSON.stringify(body));
  t.true(errors.length >= 20);
  t.deepEqual(leaks(errors, secrets), []);
  const links = answers.flatMap(({ headers }) => headers.get('link') ?? []);
  t.true(links.length >= 3);
  t.deepEqual(leaks(links, secrets), []);
});

test.serial('the search finds a secret in each of its forms', (t) => {
  const { log } = holder.app.services;
  const secret = 'seen/by+everybody';
  const before = holder.app.logLines.length;
  log.debug({ url: `http://x:${encodeURIComponent(secret)}@host/` }, 'a request');
  log.debug({ header: `Basic ${Buffer.from(`user:${secret}`).toString('base64')}` }, 'a request');
  log.debug(secret);
  t.is(leaks(holder.app.logLines.slice(before), [secret]).length, 3);
});

/** Does with each kind of secret what it is for, rightly and wrongly. @returns the secrets. */
async function wholeSession(): Promise<string[]> {
  const { make } = holder.app;
  const project = await make.project();
  await signInAndRead(project.owner);
  const oauth = await actForUser(project.owner);
  const trigger = await useTrigger(project);
  await pushByUrl(project);
  const secrets = await runABuild(project);
  return [
    ...secrets,
    ...oauth,
    trigger,
    ...Object.values(wrong),
    'root-password',
    `${password}-of-nobody`,
    rootToken,
    registrationToken,
    project.owner.token,
    project.runnersToken,
    traceText,
  ];
}

async function signInAndRead({ username, token }: { username: string; token: string }): Promise<void> {
  const session = '/api/v3/session';
  await call('POST', session, { form: { login: 'root', password: 'root-password' } });
  await call('POST', session, { json: { login: username, password: wrong.password } });
  await call('POST', session, { query: { login: username, password: wrong.password } });
  await call('POST', session, { json: { login: username, password: [`${password}-of-nobody`] } });
  await call('POST', session, {
    body: `{"password":"${wrong.password}`,
    headers: { 'Content-Type': 'application/json' },
  });
  for (const value of [token, wrong.token]) {
    const basic = Buffer.from(`${username}:${value}`).toString('base64');
    await call('GET', '/api/v3/projects', { as: value });
    await call('GET', '/api/v3/projects', { query: { private_token: value, per_page: '1' } });
    await call('GET', '/api/v3/projects', { query: { access_token: value, sudo: username } });
    await call('GET', '/api/v3/projects', { headers: { Authorization: `Bearer ${value}` } });
    await call('GET', '/api/v3/projects', { headers: { Authorization: `Basic ${basic}` } });
    await call('GET', '/api/v3/nothing', { query: { private_token: value } });
    await call('DELETE', '/api/v3/user', { json: { private_token: value } });
    await call('POST', '/api/v3/projects', { json: { private_token: value, name: { [value]: value } } });
    await call('POST', '/api/v3/projects', { form: { private_token: value } });
  }
}

/** A program acts for a user: its secret, codes, tokens and the cookies of the browser in all places, right and wrong. */
async function actForUser(user: { username: string }): Promise<string[]> {
  const { app } = holder;
  const application = await makeApplication(app);
  const { browser, page } = await signedInBrowser(app, { ...user, path: askFor(application) });
  const consent = await browser.submit(page);
  const code = new URL(consent.location ?? '').searchParams.get('code') ?? '';
  const { body } = await exchange(app, application, code);
  const { access_token: access, refresh_token: token } = body;
  const cookies = [...browser.cookies.values()];
  const formToken = formsOf(page.text)[0]?.fields.form_token ?? '';
  const secrets = [application.secret, code, access, token, formToken, ...cookies];
  for (const secret of secrets) await misplace(application, secret);
  const refused = [
    await browser.submit(page, { form_token: 'x', login: wrong.password }),
    await browser.get(askFor(application, { client_id: application.secret, state: code })),
  ];
  for (const { status, headers, text } of refused) answers.push({ status, headers, body: text });
  const next = (await refresh(app, application, token)).body;
  await call('POST', '/oauth/revoke', { form: { token: next.refresh_token } });
  await call('GET', '/api/v3/user', { query: { access_token: next.access_token } });
  return [...secrets, next.access_token, next.refresh_token];
}

async function misplace(application: { uid: string }, secret: string): Promise<void> {
  const Authorization = `Bearer ${secret}`;
  const basic = `Basic ${Buffer.from(`oauth2:${secret}`).toString('base64')}`;
  const referrer = { Referer: `https://client.example.com/callback?code=${secret}` };
  const query = { access_token: secret, per_page: '1' };
  await call('GET', '/api/v3/projects', { query });
  await call('GET', '/api/v3/projects', { query: { bearer_token: secret } });
  await call('GET', '/api/v3/projects', { headers: { Authorization, ...referrer } });
  await call('GET', '/api/v3/projects', { headers: { Authorization: basic } });
  await call('GET', '/oauth/token/info', { query });
  await call('GET', '/oauth/authorize', { query: { code: secret, client_id: secret }, headers: referrer });
  await call('GET', '/users/sign_in', { headers: { Cookie: `hearth_session=${secret}x`, ...referrer } });
  await call('GET', `/group/project.git/info/refs`, { headers: { Authorization: basic } });
  await call('POST', '/oauth/token', { query: { client_secret: secret }, form: { code: secret } });
  const client = { client_id: application.uid, client_secret: `${secret}x` };
  for (const grant_type of ['authorization_code', 'refresh_token', 'password', secret]) {
    const form = { grant_type, code: secret, refresh_token: secret, username: secret, password: secret };
    await call('POST', '/oauth/token', { form: { ...client, ...form, scope: secret } });
    await call('POST', '/oauth/token', { form, headers: { Authorization: basic } });
  }
  await call('POST', '/oauth/revoke', { form: { ...client, token: `${secret}x` } });
}

/** A trigger is named by its token, in paths too. */
async function useTrigger(project: { id: number; owner: { token: string } }): Promise<string> {
  const path = `/api/v3/projects/${project.id}/triggers`;
  const as = project.owner.token;
  const { token } = (await call<Registered>('POST', path, { as })).body;
  for (const target of [
    `${path}/${token}`,
    `${path}//${token}.json`,
    `${path}/${token}/`,
    `${path}/${token}/more`,
  ]) {
    await call('GET', target, { as });
    await call('PATCH', target, { as });
  }
  const run = `/api/v3/projects/${project.id}/trigger/builds`;
  await call('POST', run, { query: { token, ref: 'nothing' } });
  await call('POST', run, { form: { token, ref: 'nothing', 'variables[A]': wrong.token } });
  await call('DELETE', `${path}/${token}`, { as });
  return token;
}

async function pushByUrl(project: { fullPath: string; owner: { token: string } }): Promise<void> {
  const { app } = holder;
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': ciFile });
  await tree.git('push', '--quiet', cloneUrl(app, project, { password: project.owner.token }), 'master');
  await tree.try('push', cloneUrl(app, project, { password: wrong.token }), 'master:again');
  await tree.try('fetch', cloneUrl(app, project, { user: 'root', password: 'root-password' }));
  await tree.try('fetch', cloneUrl(app, project, { user: 'gitlab-ci-token', password: wrong.token }));
}

interface Registered {
  id: number;
  token: string;
}

async function runABuild(project: { id: number; fullPath: string; runnersToken: string }): Promise<string[]> {
  const ci = '/ci/api/v1';
  const runner = await register(project.runnersToken);
  const shared = await register(registrationToken);
  await call('POST', `${ci}/runners/register`, { form: { token: wrong.token } });
  await call('POST', `${ci}/builds/register`, { query: { token: wrong.token } });
  const claim = await call<Registered>('POST', `${ci}/builds/register`, { json: { token: runner } });
  const build = claim.body;
  const path = `${ci}/builds/${build.id}`;
  const clone = await trees.clone(
    cloneUrl(holder.app, project, { user: 'gitlab-ci-token', password: build.token }),
  );
  await clone.try('push', 'origin', 'master:other');
  for (const token of [build.token, wrong.token]) {
    const headers = { 'BUILD-TOKEN': token, 'Content-Range': '0-23' };
    await call('PATCH', `${path}/trace.txt`, { headers, body: traceText });
    await call('PATCH', `${path}/trace.txt`, { query: { token }, body: traceText });
    await call('GET', `${path}/artifacts`, { query: { token } });
    await call('POST', `${path}/artifacts`, { query: { token }, body: 'no form' });
    await call('POST', `${path}/artifacts`, upload(token));
  }
  await call('PUT', path, { json: { token: wrong.token, state: 'failed', trace: traceText } });
  await call('PUT', path, { form: { token: runner, state: 'nonsense' } });
  await call('PUT', path, { form: { token: runner, state: 'failed', trace: traceText } });
  await call('PUT', path, { query: { token: runner, state: 'failed' } });
  await call('GET', `/api/v3/projects/${project.id}/builds`, {
    query: { private_token: rootToken, token: runner },
  });
  await call('DELETE', `${ci}/runners/delete`, { query: { token: shared } });
  return [runner, shared, build.token];
}

async function register(token: string): Promise<string> {
  const answer = await call<Registered>('POST', '/ci/api/v1/runners/register', { query: { token } });
  return answer.body.token;
}

function upload(token: string): CallOptions {
  const part = (head: string, content: string) =>
    `--edge\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  return {
    headers: { 'Content-Type': 'multipart/form-data; boundary=edge' },
    body: `${part('name="token"', token)}${part('name="file"; filename="a.zip"', 'zip')}--edge--\r\n`,
  };
}

/** Lines in which a secret stands as it is, encoded for a URL, or in the credentials of a header. */
function leaks(lines: string[], secrets: string[]): string[] {
  return lines.filter((line) => {
    const decoded = [...line.matchAll(/[A-Za-z0-9+/]{12,}={0,2}/g)].map(([text]) =>
      Buffer.from(text, 'base64').toString(),
    );
    const seen = [line, ...decoded];
    return secrets.some((secret) =>
      seen.some((text) => text.includes(secret) || text.includes(encodeURIComponent(secret))),
    );
  });
}
