import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

interface Hook {
  id: number;
  url: string;
}

const url = 'https://hooks.example.com/in';
const system = '/api/v3/hooks';

function path({ id }: MadeProject, hook: number | string = ''): string {
  return `/api/v3/projects/${id}/hooks${hook === '' ? '' : `/${hook}`}`;
}

async function makeHook(project: MadeProject, json: Record<string, unknown> = {}): Promise<Hook> {
  const as = project.owner.token;
  return (await holder.app.call<Hook>('POST', path(project), { as, json: { url, ...json } })).body;
}

const defaults = {
  push_events: true,
  tag_push_events: false,
  issues_events: false,
  merge_requests_events: false,
  note_events: false,
  enable_ssl_verification: true,
};

test('a project hook is made with its defaults, read, listed newest first, changed and removed', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const as = project.owner.token;
  const made = await app.call<Hook & { created_at: string }>('POST', path(project), { as, form: { url } });
  t.is(made.status, 201);
  const { id, created_at } = made.body;
  const shown = { id, url, created_at, project_id: project.id, ...defaults, build_events: false };
  t.deepEqual(made.body, shown);
  t.deepEqual((await app.call('GET', path(project, id), { as })).body, shown);
  const second = await makeHook(project, { push_events: false, build_events: 'true' });
  const list = await app.call<Hook[]>('GET', path(project), { as });
  t.deepEqual(
    list.body.map((hook) => hook.id),
    [second.id, id],
  );
  t.is(list.headers.get('x-total'), '2');
  const form = { url: 'http://other.example.com', note_events: '1', push_events: 'false' };
  const changed = await app.call('PUT', path(project, id), { as, form });
  t.is(changed.status, 200);
  t.deepEqual(changed.body, { ...shown, url: form.url, note_events: true, push_events: false });
  const removed = await app.call('DELETE', path(project, id), { as });
  t.is(removed.status, 200);
  t.like(removed.body, { id, url: form.url, service_id: null, note_events: true });
  t.is((await app.call('GET', path(project, id), { as })).status, 404);
});

test('what is missing, no address, or not there', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const as = project.owner.token;
  const { id } = await makeHook(project);
  const foreign = await makeHook(await app.make.project());
  const systemHook = await app.call<Hook>('POST', system, { as: rootToken, form: { url } });
  const absent = '400 (Bad request) "url" not given';
  for (const [method, at] of [['POST', path(project)] as const, ['PUT', path(project, id)] as const]) {
    const blank = await app.call(method, at, { as, form: { url: ' ' } });
    t.deepEqual([blank.status, blank.body], [400, { message: absent }]);
    for (const wrong of [
      'ftp://a.example',
      'example.com',
      'javascript:alert(1)',
      'http://',
      `http://a/${'x'.repeat(3000)}`,
    ]) {
      const answer = await app.call(method, at, { as, json: { url: wrong } });
      t.deepEqual([answer.status, answer.body], [422, { message: 'Invalid url given' }], wrong);
    }
    const token = await app.call(method, at, { as, json: { url, token: 'two\r\nLines: x' } });
    t.deepEqual([token.status, token.body], [400, { message: { token: ['is invalid'] } }]);
  }
  for (const other of [foreign.id, systemHook.body.id, 2_147_483_647, 'x']) {
    for (const method of ['GET', 'PUT']) {
      const answer = await app.call(method, path(project, other), {
        as,
        ...(method === 'PUT' ? { form: { url } } : {}),
      });
      t.deepEqual([answer.status, answer.body], [404, { message: '404 Not found' }], `${method} ${other}`);
    }
    t.is((await app.call('GET', `${path(project, other)}/deliveries`, { as })).status, 404);
    const removed = await app.call('DELETE', path(project, other), { as });
    t.deepEqual(
      [removed.status, removed.body],
      [404, { message: `404 Error deleting hook ${other} Not Found` }],
    );
  }
  t.is((await app.call('GET', path(project, id), { as })).status, 200);
});

test('hooks of a project are for its masters', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const { id } = await makeHook(project);
  const developer = await app.make.member(project, 'developer');
  const stranger = await app.make.user();
  const calls = [
    ['GET', path(project)],
    ['POST', path(project)],
    ['GET', path(project, id)],
    ['PUT', path(project, id)],
    ['DELETE', path(project, id)],
    ['GET', `${path(project, id)}/deliveries`],
  ] as const;
  for (const [method, at] of calls) {
    t.is((await app.call(method, at)).status, 401);
    t.is((await app.call(method, at, { as: developer.token })).status, 403);
    t.is((await app.call(method, at, { as: stranger.token })).status, 404);
  }
  const master = await app.make.member(project, 'master');
  t.is((await app.call('GET', path(project, id), { as: master.token })).status, 200);
});

test('neither token nor the password of an address is ever shown, and both are kept encrypted', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const as = project.owner.token;
  const secrets = { url: 'https://ada:pass-word@hooks.example.com/in', token: 'tok-en-1' };
  const made = await app.call<Hook>('POST', path(project), { as, json: secrets });
  const { id } = made.body;
  const answers = [made.body, (await app.call('GET', path(project, id), { as })).body];
  answers.push((await app.call('GET', path(project), { as })).body as Hook);
  t.is(made.body.url, url);
  t.notRegex(JSON.stringify(answers), /pass-word|tok-en-1|ada/);
  const stored = async () => {
    const [row] = await app.rows<Record<string, Buffer | null>>('select * from hooks where id = $1', [id]);
    t.notRegex(JSON.stringify(row), /pass-word|tok-en-1/);
    const open = (sealed?: Buffer | null) => sealed && app.services.secrets.open(sealed);
    return [open(row?.credentials_sealed), open(row?.token_sealed)];
  };
  t.deepEqual(await stored(), ['ada:pass-word', 'tok-en-1']);
  await app.call('PUT', path(project, id), { as, json: { url } });
  t.deepEqual(await stored(), ['ada:pass-word', 'tok-en-1'], 'what comes back as shown changes nothing');
  await app.call('PUT', path(project, id), { as, json: { url, token: '' } });
  t.deepEqual(await stored(), ['ada:pass-word', null]);
  await app.call('PUT', path(project, id), { as, json: { url: `${url}/else`, token: 'new' } });
  t.deepEqual(await stored(), [null, 'new'], 'the password was for the other address');
  t.deepEqual(
    app.logLines.filter((line) => /pass-word|tok-en-1/.test(line)),
    [],
  );
});

test('system hooks are made, listed and removed; removing one that is not there is no fault', async (t) => {
  const { app } = holder;
  const as = rootToken;
  const made = await app.call<Hook & { created_at: string }>('POST', system, {
    as,
    form: { url, tag_push_events: 'true' },
  });
  t.is(made.status, 201);
  t.deepEqual(Object.keys(made.body).sort(), ['created_at', 'id', 'url']);
  const { id, created_at } = made.body;
  const list = await app.call<Hook[]>('GET', system, { as, query: { per_page: '100' } });
  t.deepEqual(
    list.body.find((hook) => hook.id === id),
    made.body,
  );
  const removed = await app.call<{ updated_at: string }>('DELETE', `${system}/${id}`, { as });
  const { updated_at } = removed.body;
  const row = { id, url, created_at, updated_at, project_id: null, service_id: null };
  t.deepEqual([removed.status, removed.body], [200, { ...row, ...defaults, tag_push_events: true }]);
  const again = await app.call('DELETE', `${system}/${id}`, { as });
  t.deepEqual([again.status, again.body], [200, null]);
  const ofProject = await makeHook(await app.make.project());
  t.is((await app.call('DELETE', `${system}/${ofProject.id}`, { as })).body, null);
  t.is((await app.rows('select 1 from hooks where id = $1', [ofProject.id])).length, 1);
});

test('system hooks are for administrators, and need an address', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const { id } = (await app.call<Hook>('POST', system, { as: rootToken, form: { url } })).body;
  for (const [method, at] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', `/${id}`],
    ['DELETE', `/${id}`],
    ['GET', `/${id}/deliveries`],
  ]) {
    t.is((await app.call(method ?? '', system + at)).status, 401);
    t.is((await app.call(method ?? '', system + at, { as: user.token })).status, 403);
  }
  const absent = await app.call('POST', system, { as: rootToken });
  t.deepEqual([absent.status, absent.body], [400, { message: '400 (Bad request) "url" not given' }]);
  const wrong = await app.call('POST', system, { as: rootToken, form: { url: 'gopher://x' } });
  t.deepEqual([wrong.status, wrong.body], [400, { message: { url: ['must be a valid URL'] } }]);
  for (const at of ['/2147483647', '/2147483647/deliveries']) {
    const answer = await app.call('GET', system + at, { as: rootToken });
    t.deepEqual([answer.status, answer.body], [404, { message: '404 Not found' }]);
  }
});

test('reading a system hook sends it a sample, and answers that', async (t) => {
  const { app } = holder;
  const as = rootToken;
  const form = { url: receiver.url('/sample'), token: 'known' };
  const { id } = (await app.call<Hook>('POST', system, { as, form })).body;
  const answer = await app.call<Record<string, unknown>>('GET', `${system}/${id}`, { as });
  t.is(answer.status, 200);
  t.like(answer.body, { event_name: 'project_create', name: 'Ruby', path: 'ruby', project_id: 1 });
  t.deepEqual(Object.keys(answer.body).sort(), [
    'event_name',
    'name',
    'owner_email',
    'owner_name',
    'path',
    'project_id',
  ]);
  const [received] = receiver.at('/sample');
  t.deepEqual(received?.body, answer.body);
  t.like(received?.headers, {
    'x-gitlab-event': 'System Hook',
    'x-gitlab-token': 'known',
    'content-type': 'application/json',
  });
  const deliveries = await app.call<Record<string, unknown>[]>('GET', `${system}/${id}/deliveries`, { as });
  t.is(deliveries.body.length, 1);
  t.like(deliveries.body[0], {
    event: 'System Hook',
    state: 'delivered',
    attempts: 1,
    response_status: 200,
    response_body: 'thanks',
    error: null,
  });
  t.is(deliveries.body[0]?.request_body, JSON.stringify(answer.body));
});

test('a sample that does not arrive is answered all the same, told among the deliveries, and not sent again', async (t) => {
  const { app } = holder;
  receiver.answer('/broken', 500);
  for (const [address, status] of [
    [receiver.url('/broken'), 500],
    ['http://127.0.0.1:1', null],
  ] as const) {
    const { id } = (await app.call<Hook>('POST', system, { as: rootToken, form: { url: address } })).body;
    t.is((await app.call('GET', `${system}/${id}`, { as: rootToken })).status, 200);
    const { body } = await app.call<Record<string, unknown>[]>('GET', `${system}/${id}/deliveries`, {
      as: rootToken,
    });
    t.like(body[0], { state: 'failed', attempts: 1, response_status: status });
    t.is(body[0]?.error === null, status !== null);
  }
});
