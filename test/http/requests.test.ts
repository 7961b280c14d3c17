import test from 'ava';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { send } from './send.ts';

const holder = withApp();
const token = { 'PRIVATE-TOKEN': rootToken };

/** A request whose path is sent as it is written. */
async function raw(path: string, headers: Record<string, string> = token, method = 'GET') {
  const answer = await send(holder.app.url, { path, headers, method });
  return { ...answer, body: answer.text === '' ? null : JSON.parse(answer.text) };
}

test('a path may end in .json, a slash or both, and have doubled slashes', async (t) => {
  const project = await holder.app.make.project();
  const encoded = encodeURIComponent(project.fullPath);
  const paths = [
    `/api/v3/projects/${project.id}`,
    `/api/v3/projects/${project.id}.json`,
    `/api/v3/projects/${project.id}/`,
    `/api/v3/projects/${project.id}.json/`,
    `/api/v3//projects///${project.id}`,
    `//api/v3/projects/${project.id}//`,
    `/api/v3/projects/${encoded}`,
    `/api/v3/projects/${encoded}.json`,
    `/api/v3/projects/${encoded.toUpperCase()}/`,
    `/api/v3/projects/${encoded}?x=1`,
    `http://other.example/api/v3/projects/${project.id}`,
  ];
  for (const path of paths) {
    const answer = await raw(path);
    t.is(answer.status, 200, path);
    t.is(answer.body.id, project.id, path);
  }
  const nested = [
    `${encoded}/builds`,
    `${encoded}//builds`,
    `${encoded}/builds.json`,
    `${project.id}/builds/`,
  ];
  for (const path of nested) t.deepEqual((await raw(`/api/v3/projects/${path}`)).body, [], path);
});

test('a path that ends in .json is that of whatever is called so, before that of what is called without', async (t) => {
  const { make } = holder.app;
  const owner = await make.user();
  const as = { 'PRIVATE-TOKEN': owner.token };
  const member = await make.user();
  const [plain, whole] = [
    await make.project({ owner, visibility: 'internal', columns: { path: 'pk' } }),
    await make.project({ owner, columns: { path: 'pk.json' } }),
  ];
  const place = `/api/v3/projects/${owner.username}%2F`;
  for (const [path, id] of [
    ['pk', plain.id],
    ['pk.json', whole.id],
    ['PK.json/', whole.id],
    ['pk.json.json', whole.id],
  ] as const) {
    t.is((await raw(place + path, as)).body.id, id, path);
  }
  const hidden = await raw(`${place}pk.json`, { 'PRIVATE-TOKEN': member.token });
  t.is(hidden.body.id, plain.id, 'nobody learns that there is another one');
  t.is((await raw(`${place}pk.json`, {})).status, 401);
  t.is((await raw(`${place}nothing.json`, as)).status, 404);
  const fork = await raw(`/api/v3/projects/fork/${owner.username}%2Fpk.json`, token, 'POST');
  t.is(fork.body.path, 'pk.json');
});

test('a group too, and a project that is moved into it', async (t) => {
  const { make } = holder.app;
  const [plain, whole] = [await make.group({ path: 'x' }), await make.group({ path: 'x.json' })];
  t.is((await raw('/api/v3/groups/x')).body.id, plain);
  t.is((await raw('/api/v3/groups/x.json')).body.id, whole);
  t.is((await raw('/api/v3/groups/x.json.json')).body.id, whole);
  t.is((await raw(`/api/v3/groups/${plain}.json`)).body.id, plain);
  const owner = await make.user();
  for (const path of ['moved', 'moved.json']) await make.project({ owner, columns: { path } });
  const move = `/api/v3/groups/x.json/projects/${owner.username}%2Fmoved.json`;
  for (const left of [['moved'], []]) {
    t.is((await raw(move, token, 'POST')).status, 201);
    const rows = await holder.app.rows<{ path: string }>(
      'select path from projects where namespace_id = $1',
      [owner.namespaceId],
    );
    t.deepEqual(
      rows.map(({ path }) => path),
      left,
    );
  }
});

test('whatever a client accepts, it gets JSON of exactly one type', async (t) => {
  for (const accept of [
    'text/plain',
    'application/octet-stream',
    '*/*',
    'application/json;q=0',
    'nonsense',
    '',
  ]) {
    const answer = await raw('/api/v3/user', { ...token, Accept: accept });
    t.is(answer.status, 200, accept);
    t.is(answer.headers['content-type'], 'application/json');
  }
  for (const path of [
    '/api/v3/user',
    '/api/v3/nothing',
    '/ci/api/v1/builds/register',
    '/api/v3/projects/0',
  ]) {
    t.is((await raw(path, {})).headers['content-type'], 'application/json', path);
  }
});

test('the address of the client is used in what it is told', async (t) => {
  const project = await holder.app.make.project();
  const answer = await raw(`/api/v3/projects/${project.id}`, { ...token, Host: 'forge.example:81' });
  t.is(answer.body.http_url_to_repo, `http://forge.example:81/${project.fullPath}.git`);
});

test('each failure has its status and its one body', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const other = await app.make.project();
  const as = { 'PRIVATE-TOKEN': user.token };
  const cases: [string, string, Record<string, string>, number, string][] = [
    ['GET', '/api/v3/user', {}, 401, '401 Unauthorized'],
    ['GET', '/api/v3/user', { 'PRIVATE-TOKEN': 'x' }, 401, '401 Unauthorized'],
    ['GET', '/api/v3/user?access_token=x', {}, 401, '401 Unauthorized'],
    ['GET', '/api/v3/user', { Authorization: 'Bearer x' }, 401, '401 Unauthorized'],
    ['GET', '/api/v3/projects/1', {}, 401, '401 Unauthorized'],
    ['GET', '/api/v3/runners/all', as, 403, '403 Forbidden'],
    ['GET', `/api/v3/projects/${other.id}`, as, 404, '404 Project Not Found'],
    ['PUT', `/api/v3/projects/${other.id}`, as, 404, '404 Project Not Found'],
    ['GET', `/api/v3/projects/${other.id}/builds`, as, 404, '404 Project Not Found'],
    ['GET', '/api/v3/projects/999999', as, 404, '404 Project Not Found'],
    ['GET', '/api/v3/users/999999', as, 404, '404 User Not Found'],
    ['GET', '/api/v3/users/me', as, 404, '404 Not found'],
    ['GET', '/api/v3/nothing/here', as, 404, '404 Not Found'],
    ['GET', '/api/v3/nothing/here', {}, 404, '404 Not Found'],
    ['GET', '/api/v3', {}, 404, '404 Not Found'],
    ['GET', '/api', {}, 404, '404 Not Found'],
    ['GET', '/ci/api/v1/nothing', {}, 404, '404 Not Found'],
  ];
  for (const [method, path, headers, status, message] of cases) {
    const answer = await raw(path, headers, method);
    t.is(answer.status, status, path);
    t.is(answer.text, JSON.stringify({ message }), path);
  }
});

test('a known path with another verb is a 405 that names the verbs', async (t) => {
  const cases: [string, string, string[]][] = [
    ['DELETE', '/api/v3/user', ['GET', 'HEAD']],
    ['POST', '/api/v3/user', ['GET', 'HEAD']],
    ['PATCH', '/api/v3/projects', ['GET', 'HEAD', 'POST']],
    ['PATCH', '/api/v3/projects/1.json', ['GET', 'HEAD', 'PUT']],
    ['GET', '/api/v3/session', ['POST']],
    ['GET', '/api/v3/projects/1/builds/1/cancel', ['POST']],
    ['GET', '/ci/api/v1/builds/register', ['POST']],
  ];
  for (const [method, path, verbs] of cases) {
    const answer = await raw(path, {}, method);
    t.is(answer.status, 405, path);
    t.is(answer.text, '{"message":"405 Method Not Allowed"}');
    const allowed = String(answer.headers.allow).split(', ');
    t.true(
      verbs.every((verb) => allowed.includes(verb)),
      `${path}: ${allowed}`,
    );
    t.false(allowed.includes(method));
  }
});

test('ids out of range, broken escapes and NUL bytes in a path name nothing', async (t) => {
  const odd = [
    '%',
    '%zz',
    '%ff',
    '%00',
    '1%00',
    '-1',
    '0',
    '2147483648',
    '99999999999999999999',
    '1e3',
    'a%2F%00',
  ];
  odd.push(
    `${'9'.repeat(5000)}`,
    'x%2Fy%2Fz',
    '..%2F..',
    '%2F',
    'a%2F',
    '%2Fa',
    '1%0A',
    '%F0%9F%92%A9',
    "'%20or%201=1",
  );
  const templates = [
    (id: string) => `/api/v3/projects/${id}`,
    (id: string) => `/api/v3/projects/${id}/builds`,
    (id: string) => `/api/v3/users/${id}`,
    (id: string) => `/api/v3/runners/${id}`,
  ];
  for (const id of odd) {
    for (const template of templates) {
      const answer = await raw(template(id));
      t.is(answer.status, 404, template(id));
    }
  }
});

test('ids of things inside a project, likewise', async (t) => {
  const project = await holder.app.make.project();
  for (const id of ['%', '%00', '-1', '0', '2147483648', '9'.repeat(40), 'x', '1.5', '%0A']) {
    const paths = [
      ['GET', `builds/${id}`],
      ['GET', `builds/${id}/trace`],
      ['GET', `builds/${id}/artifacts`],
      ['POST', `builds/${id}/retry`],
      ['GET', `repository/commits/${id}/builds`],
      ['DELETE', `runners/${id}`],
    ] as const;
    for (const [method, path] of paths) {
      const answer = await raw(`/api/v3/projects/${project.id}/${path}`, token, method);
      t.true(answer.status === 404 || answer.status === 400, `${answer.status} ${path}`);
    }
  }
});

test('odd values of parameters are refused or passed over', async (t) => {
  const paths = [
    'users?search=%00',
    'users?username[]=a',
    'users?search=%25%5F%5C%27',
    'users?active=x',
    'projects?search=%00',
    'projects?order_by=id;drop&sort=up',
    'projects?visibility[]=public',
    'projects?archived[a]=1',
    'runners?scope=%00',
    'runners?scope[]=active',
    'runners/all?scope[x]=active',
    'users?page=1e999&per_page=1e999',
    'users?page[]=1&per_page[]=2',
    'users?page=9007199254740993&per_page=100',
    'user?sudo=%00',
    'user?sudo[]=root',
    'user?sudo=99999999999999',
    `users?search=${'%F0%9F%92%A9'.repeat(300)}`,
  ];
  for (const path of paths) {
    const { status } = await raw(`/api/v3/${path}`);
    t.true([200, 400, 404].includes(status), `${status} ${path}`);
  }
});

test('each answer has a request id: the one that was sent, or a new one', async (t) => {
  const given = await raw('/api/v3/user', { ...token, 'X-Request-Id': 'my.own_id-1' });
  t.is(given.headers['x-request-id'], 'my.own_id-1');
  const fresh = new Set<unknown>();
  for (const odd of [undefined, '', 'with space', 'x'.repeat(65), '<b>']) {
    const headers = odd === undefined ? token : { ...token, 'X-Request-Id': odd };
    const answer = await raw('/api/v3/nothing', headers);
    t.regex(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/);
    fresh.add(answer.headers['x-request-id']);
  }
  t.is(fresh.size, 5);
});

test('one line per request, without its query', async (t) => {
  const { app } = holder;
  await raw(`/api/v3/users?private_token=${rootToken}&search=needle`, { 'X-Request-Id': 'logged' });
  const lines = app.logLines.filter((line) => line.includes('"request":"logged"'));
  t.is(lines.length, 1);
  const line = JSON.parse(lines[0] ?? '');
  t.like(line, { method: 'GET', path: '/api/v3/users', status: 200, user: 1, msg: 'request' });
  t.true(line.ms >= 0);
  t.false(lines[0]?.includes(rootToken) || lines[0]?.includes('needle'));
});

test('HEAD is GET without the body', async (t) => {
  const project = await holder.app.make.project();
  const paths = ['users?per_page=1', 'user', `projects/${project.id}`, 'nothing', 'projects/0'];
  for (const path of paths) {
    const [head, get] = [await raw(`/api/v3/${path}`, token, 'HEAD'), await raw(`/api/v3/${path}`)];
    t.is(head.text, '');
    t.is(head.status, get.status, path);
    for (const name of ['content-type', 'content-length', 'x-total', 'link']) {
      t.is(head.headers[name], get.headers[name], `${path} ${name}`);
    }
  }
});

test('the documents about the server itself', async (t) => {
  await holder.app.make.project();
  const document = await raw('/api/v3/openapi.json', {});
  t.is(document.body.openapi, '3.1.0');
  t.truthy(document.body.paths['/projects/{id}/builds'].get);
  t.deepEqual((await raw('/healthz', {})).body, { status: 'ok' });
  t.is((await raw('/readyz', {})).status, 200);
  const metrics: Answer<string> = await holder.app.call('GET', '/metrics');
  t.regex(metrics.body, /hearth_http_requests_total\{method="GET"\} \d+/);
  t.regex(metrics.body, /route="\/projects\/:id"/);
});
