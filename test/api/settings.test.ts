import test from 'ava';
import { registrationToken, rootToken, withApp } from '../support/app.ts';

const holder = withApp();
const path = '/api/v3/application/settings';

interface Settings {
  [name: string]: unknown;
}

function put(options: Parameters<typeof holder.app.call>[2]) {
  return holder.app.call<Settings>('PUT', path, { as: rootToken, ...options });
}

async function read(): Promise<Settings> {
  return (await holder.app.call<Settings>('GET', path, { as: rootToken })).body;
}

test.serial('an instance starts with the documented values', async (t) => {
  const { created_at, updated_at, ...rest } = await read();
  t.regex(String(created_at), /^\d{4}-.*Z$/);
  t.regex(String(updated_at), /^\d{4}-.*Z$/);
  t.deepEqual(rest, {
    id: 1,
    default_projects_limit: 10,
    signup_enabled: true,
    signin_enabled: true,
    avatar_service_enabled: true,
    sign_in_text: null,
    home_page_url: null,
    after_sign_out_path: null,
    default_branch_protection: 1,
    restricted_visibility_levels: [],
    max_attachment_size: 10,
    session_expire_delay: 10_080,
    default_project_visibility: 0,
    default_snippet_visibility: 0,
    restricted_signup_domains: [],
    user_oauth_applications: true,
    default_group_visibility: 2,
    shared_runners_enabled: true,
    max_artifacts_size: 100,
    send_user_confirmation_email: false,
    local_requests_allowed: false,
    runners_registration_token: registrationToken,
  });
});

test.serial('they are for administrators alone', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  for (const method of ['GET', 'PUT']) {
    const stranger = await app.call(method, path);
    t.is(stranger.status, 401);
    t.deepEqual(stranger.body, { message: '401 Unauthorized' });
    const denied = await app.call(method, path, { as: user.token, query: { signup_enabled: 'false' } });
    t.is(denied.status, 403);
    t.deepEqual(denied.body, { message: '403 Forbidden' });
  }
  t.is((await read()).signup_enabled, true);
});

test.serial('every setting is changed and answered', async (t) => {
  const { created_at } = await read();
  const before = (await read()).updated_at;
  const given = {
    default_projects_limit: 3,
    signup_enabled: false,
    signin_enabled: false,
    avatar_service_enabled: false,
    sign_in_text: 'Welcome',
    home_page_url: 'https://example.com/home',
    after_sign_out_path: 'http://example.com/bye',
    default_branch_protection: 2,
    restricted_visibility_levels: [0, 2],
    max_attachment_size: 20,
    session_expire_delay: 0,
    default_project_visibility: 1,
    default_snippet_visibility: 2,
    restricted_signup_domains: ['example.com', '*.example.org'],
    user_oauth_applications: false,
    default_group_visibility: 0,
    shared_runners_enabled: false,
    max_artifacts_size: 5,
    send_user_confirmation_email: true,
    local_requests_allowed: true,
    runners_registration_token: 'another-token-1234567',
  };
  const answer = await put({ json: given });
  t.is(answer.status, 200);
  t.deepEqual(answer.body, { id: 1, ...given, created_at, updated_at: answer.body.updated_at });
  t.deepEqual(await read(), answer.body);
  t.true(String(before) < String(answer.body.updated_at));
});

test.serial('what is absent, blank or null stays', async (t) => {
  await put({ json: { sign_in_text: 'Stays', default_projects_limit: 7, signup_enabled: false } });
  const answer = await put({
    json: {
      sign_in_text: '',
      default_projects_limit: null,
      signup_enabled: '',
      restricted_visibility_levels: null,
      unknown: 1,
    },
  });
  t.is(answer.status, 200);
  t.like(answer.body, { sign_in_text: 'Stays', default_projects_limit: 7, signup_enabled: false });
  t.is((await put({ form: { signup_enabled: 'true' } })).body.signup_enabled, true);
});

const levelForms: Record<string, Parameters<typeof holder.app.call>[2]> = {
  'a JSON list': { json: { restricted_visibility_levels: [2, 1] } },
  'a JSON list of texts': { json: { restricted_visibility_levels: ['1', '2'] } },
  'the levels of projects': { json: { restricted_visibility_levels: [20, 10, 2] } },
  words: { json: { restricted_visibility_levels: ['public', 'internal'] } },
  'separated by commas': { form: { restricted_visibility_levels: '1, 2' } },
  repeated: {
    body: 'restricted_visibility_levels[]=1&restricted_visibility_levels[]=2',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  },
  'by index': {
    body: 'restricted_visibility_levels%5B0%5D=1&restricted_visibility_levels%5B1%5D=2',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  },
  'an indexed object': { json: { restricted_visibility_levels: { 0: 1, 1: 2 } } },
  'the text of a list': { form: { restricted_visibility_levels: '[1, "2"]' } },
  'in the query': { query: { restricted_visibility_levels: '1,2' } },
};

for (const [name, options] of Object.entries(levelForms)) {
  test.serial(`a list may be sent as ${name}`, async (t) => {
    await put({ json: { restricted_visibility_levels: [] } });
    const answer = await put(options);
    t.is(answer.status, 200);
    t.deepEqual(answer.body.restricted_visibility_levels, [1, 2]);
  });
}

for (const [name, value] of Object.entries({ 'a list': [], text: '', 'text in a list': [''], JSON: '[]' })) {
  test.serial(`an empty ${name} empties a list`, async (t) => {
    await put({ json: { restricted_visibility_levels: [1], restricted_signup_domains: ['a.com'] } });
    const given = { restricted_visibility_levels: value, restricted_signup_domains: value };
    t.like((await put({ json: given })).body, {
      restricted_visibility_levels: [],
      restricted_signup_domains: [],
    });
  });
}

test.serial('two settings have another name in later clients; the documented name wins', async (t) => {
  const later = await put({ json: { gravatar_enabled: false, domain_whitelist: ['Late.example'] } });
  t.like(later.body, { avatar_service_enabled: false, restricted_signup_domains: ['late.example'] });
  const both = { gravatar_enabled: false, avatar_service_enabled: true };
  const lists = { domain_whitelist: ['a.example'], restricted_signup_domains: ['b.example'] };
  t.like((await put({ json: { ...both, ...lists } })).body, {
    avatar_service_enabled: true,
    restricted_signup_domains: ['b.example'],
  });
});

const faults: [Record<string, unknown>, string[]][] = [
  [{ session_expire_delay: -1 }, ['must be greater than or equal to 0']],
  [{ session_expire_delay: 'soon' }, ['is not a number']],
  [{ max_attachment_size: 0 }, ['must be greater than or equal to 1']],
  [{ max_artifacts_size: 0 }, ['must be greater than or equal to 1']],
  [{ default_projects_limit: -1 }, ['must be greater than or equal to 0']],
  [{ home_page_url: 'ftp://example.com' }, ['must be a valid URL']],
  [{ home_page_url: 'http://' }, ['must be a valid URL']],
  [{ after_sign_out_path: 'javascript:alert(1)' }, ['must be a valid URL']],
  [{ after_sign_out_path: 'http://a\r\nX: b' }, ['must be a valid URL']],
  [
    { restricted_visibility_levels: [5, 'x'] },
    ["'5' is not a valid visibility level", "'x' is not a valid visibility level"],
  ],
  [{ default_project_visibility: 3 }, ['is not included in the list']],
  [{ default_snippet_visibility: 'constructor' }, ['is not included in the list']],
  [{ default_group_visibility: 15 }, ['is not included in the list']],
  [{ default_branch_protection: 3 }, ['is not included in the list']],
  [{ restricted_signup_domains: ['fine.example', 'not a@domain'] }, ["'a@domain' is not a valid domain"]],
  [{ runners_registration_token: 'short' }, ['is too short (minimum is 20 characters)']],
  [{ runners_registration_token: 'spaces are not allowed' }, ['is invalid']],
];

for (const [given, texts] of faults) {
  test.serial(`refused, and nothing changes: ${JSON.stringify(given)}`, async (t) => {
    const before = await read();
    const answer = await put({ json: { ...given, sign_in_text: 'not written' } });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { message: { [Object.keys(given)[0] ?? '']: texts } });
    t.deepEqual(await read(), before);
  });
}

test.serial('what GET answers can be sent back as it is', async (t) => {
  const { updated_at, ...before } = await read();
  const answer = await put({ json: { ...before, updated_at } });
  t.is(answer.status, 200);
  t.like(answer.body, before);
});

test.serial('runners are registered with the new registration token, not with the old one', async (t) => {
  const register = (token: string) =>
    holder.app.call('POST', '/ci/api/v1/runners/register', { form: { token } });
  await put({ json: { runners_registration_token: 'newer-token-123456789' } });
  t.is((await register('newer-token-123456789')).status, 201);
  t.is((await register(registrationToken)).status, 403);
});
