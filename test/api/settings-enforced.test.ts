import { readFile } from 'node:fs/promises';
import test from 'ava';
import { beginSession, findSession } from '../../server/oauth/web-sessions.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';

const holder = withApp();

/** Where the test of a setting, or what sets it for that test, is found when it is not in this file. */
const proofs: Record<string, string> = {
  avatar_service_enabled: 'avatars.test.ts',
  max_attachment_size: 'uploads.test.ts',
  max_artifacts_size: '../support/artifact-files.ts',
  runners_registration_token: 'settings.test.ts',
  user_oauth_applications: 'applications.test.ts',
  local_requests_allowed: 'project-import.test.ts',
  after_sign_out_path: '../web/consent.test.ts',
};

/** What they are about is not there yet. */
const notYet = ['signup_enabled', 'default_branch_protection', 'default_snippet_visibility'];

let count = 0;

function put(json: Record<string, unknown>): Promise<Answer> {
  return holder.app.call('PUT', '/api/v3/application/settings', { as: rootToken, json });
}

function make<T>(path: string, json: Record<string, unknown>, as = rootToken): Promise<Answer<T>> {
  count += 1;
  return holder.app.call('POST', `/api/v3/${path}`, { as, json: { name: `thing-${count}`, ...json } });
}

function newUser(json: Record<string, unknown> = {}): Promise<Answer<Record<string, unknown>>> {
  const username = `new-user-${count}`;
  return make('users', { username, email: `${username}@example.com`, password: 'a-long-password', ...json });
}

test.serial('default_projects_limit: for users who are made without one', async (t) => {
  await put({ default_projects_limit: 3 });
  t.is((await newUser()).body.projects_limit, 3);
  t.is((await newUser({ projects_limit: 5 })).body.projects_limit, 5);
});

test.serial('restricted_visibility_levels: only administrators take them', async (t) => {
  await put({ restricted_visibility_levels: [2] });
  const { token } = await holder.app.make.user();
  for (const path of ['projects', 'groups']) {
    const given =
      path === 'groups' ? { path: `group-${count}`, visibility_level: 20 } : { visibility_level: 20 };
    t.is((await make(path, given, token)).status, 400, path);
    t.is((await make(path, given)).status, 201, path);
  }
  await put({ restricted_visibility_levels: [] });
  t.is((await make('projects', { visibility_level: 20 }, token)).status, 201);
});

test.serial('default_project_visibility: for projects that are made without one', async (t) => {
  await put({ default_project_visibility: 1 });
  const { body } = await make<{ visibility_level: number }>('projects', {});
  t.is(body.visibility_level, 10);
  await put({ default_project_visibility: 0 });
});

test.serial('default_group_visibility: for groups that are made without one', async (t) => {
  await put({ default_group_visibility: 1 });
  const { body } = await make<{ id: number }>('groups', { path: 'preset-group' });
  const group = await holder.app.call<{ visibility_level: number }>('GET', `/api/v3/groups/${body.id}`, {
    as: rootToken,
  });
  t.is(group.body.visibility_level, 10);
});

test.serial('shared_runners_enabled: for projects that are made from now on', async (t) => {
  await put({ shared_runners_enabled: false });
  const { body } = await make<{ shared_runners_enabled: boolean }>('projects', {});
  t.is(body.shared_runners_enabled, false);
  await put({ shared_runners_enabled: true });
});

test.serial('restricted_signup_domains: for every new user, whoever makes him', async (t) => {
  await put({ restricted_signup_domains: ['example.org', '*.Example.net'] });
  const refused = await newUser();
  t.is(refused.status, 400);
  t.deepEqual(refused.body.message, {
    email: ['is not whitelisted. Email domains valid for registration are: example.org, *.example.net'],
  });
  t.is((await newUser({ email: `a${count}@EXAMPLE.org` })).status, 201);
  t.is((await newUser({ email: `a${count}@mail.example.net` })).status, 201);
  await put({ restricted_signup_domains: '' });
  t.is((await newUser()).status, 201);
});

test.serial('send_user_confirmation_email: new users count as confirmed only without it', async (t) => {
  await put({ send_user_confirmation_email: true });
  t.is((await newUser()).body.confirmed_at, null);
  t.not((await newUser({ confirm: false })).body.confirmed_at, null);
  await put({ send_user_confirmation_email: false });
  t.not((await newUser()).body.confirmed_at, null);
});

test.serial('home_page_url: where visitors without login are sent', async (t) => {
  const { app } = holder;
  t.is((await app.call('GET', '/')).status, 404);
  await put({ home_page_url: 'https://example.com/about' });
  const answer = await app.call('GET', '/');
  t.is(answer.status, 302);
  t.is(answer.headers.get('location'), 'https://example.com/about');
});

test.serial('signin_enabled: whether the page has a form for a password', async (t) => {
  const page = async () => String((await holder.app.call('GET', '/users/sign_in')).body);
  t.true((await page()).includes('name="password"'));
  await put({ signin_enabled: false });
  t.false((await page()).includes('name="password"'));
  await put({ signin_enabled: true });
});

test.serial('sign_in_text: on the page, as text', async (t) => {
  await put({ sign_in_text: 'Ask <b>Ann</b> for an account' });
  const { body } = await holder.app.call('GET', '/users/sign_in');
  t.true(String(body).includes('Ask &lt;b&gt;Ann&lt;/b&gt; for an account'));
});

test.serial('session_expire_delay: how long somebody stays signed in with a browser', async (t) => {
  const { work, rows } = holder.app;
  await put({ session_expire_delay: 5 });
  const user = await holder.app.make.user();
  const token = await beginSession(work.em, user.id);
  const begun = (ago: string) =>
    rows('update web_sessions set created_at = now() - $2::interval where user_id = $1', [user.id, ago]);
  await begun('4 minutes');
  t.is((await findSession(work.em, token))?.id, user.id);
  await begun('6 minutes');
  t.is(await findSession(work.em, token), null);
});

test.serial('each setting is asked for by a test, or waits for what it is about', async (t) => {
  const { body } = await holder.app.call<object>('GET', '/api/v3/application/settings', { as: rootToken });
  const here = await readFile(new URL(import.meta.url), 'utf8');
  const names = Object.keys(body).filter((name) => !['id', 'created_at', 'updated_at'].includes(name));
  for (const name of names.filter((name) => !notYet.includes(name))) {
    const file = proofs[name];
    const text = file ? await readFile(new URL(file, import.meta.url), 'utf8') : here;
    t.true(file ? text.includes(name) : text.includes(`'${name}: `), name);
  }
});
