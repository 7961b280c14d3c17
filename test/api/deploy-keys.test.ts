import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';

const holder = withApp();

interface Key {
  id: number;
  title: string;
  key: string;
  created_at: string;
}

interface Sent {
  as?: string;
  form?: Record<string, string>;
}

function call<T>(method: string, project: MadeProject, path: string, { as, form }: Sent = {}) {
  const url = `/api/v3/projects/${project.id}${path}`;
  return holder.app.call<T>(method, url, { as: as ?? project.owner.token, ...(form ? { form } : {}) });
}

async function add(project: MadeProject, word: string): Promise<Key> {
  const form = { title: word, key: sshKeyLine(word) };
  return (await call<Key>('POST', project, '/keys', { form })).body;
}

async function ids(project: MadeProject): Promise<number[]> {
  const list = await call<Key[]>('GET', project, '/keys', { as: rootToken });
  return list.body.map(({ id }) => id);
}

const taken = ['has already been taken'];

for (const folder of ['/keys', '/deploy_keys']) {
  test(`${folder}: add, list, get, remove`, async (t) => {
    const project = await holder.app.make.project();
    const form = { title: 'deploy', key: sshKeyLine(folder) };
    const added = await call<Key>('POST', project, folder, { form });
    t.is(added.status, 201);
    t.deepEqual(Object.keys(added.body).sort(), ['created_at', 'id', 'key', 'title']);
    t.like(added.body, form);
    t.deepEqual((await call('GET', project, folder)).body, [added.body]);
    t.deepEqual((await call('GET', project, `${folder}/${added.body.id}`)).body, added.body);
    const removed = await call('DELETE', project, `${folder}/${added.body.id}`);
    t.is(removed.status, 200);
    t.like(removed.body, { ...added.body, user_id: null, type: 'DeployKey', public: false });
    const gone = await call('DELETE', project, `${folder}/${added.body.id}`);
    t.is(gone.status, 404);
    t.deepEqual(gone.body, { message: '404 Not found' });
    t.deepEqual((await call('GET', project, `${folder}/${added.body.id}`)).body, {
      message: '404 Not found',
    });
    t.deepEqual(await holder.app.rows('select 1 from keys where id = $1', [added.body.id]), []);
  });
}

test('faults are told of title and key at once', async (t) => {
  const project = await holder.app.make.project();
  for (const [form, message] of [
    [{}, { title: ["can't be blank"], key: ["can't be blank"] }],
    [{ title: 't' }, { key: ["can't be blank"] }],
    [{ key: sshKeyLine('untitled') }, { title: ["can't be blank"] }],
    [
      { title: 't', key: 'fake' },
      { key: ['is invalid'], fingerprint: ['cannot be generated'] },
    ],
  ] as [Record<string, string>, object][]) {
    const answer = await call('POST', project, '/keys', { form });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { message });
  }
});

test('a key that is enabled here is answered as it is', async (t) => {
  const project = await holder.app.make.project();
  const key = await add(project, 'twice');
  const form = { title: 'other title', key: sshKeyLine('twice', 'other comment') };
  const again = await call('POST', project, '/keys', { form });
  t.is(again.status, 201);
  t.deepEqual(again.body, key);
  t.deepEqual(await ids(project), [key.id]);
});

test('a key of another project is enabled for whoever takes part in that, by its text or its id', async (t) => {
  const { app } = holder;
  const [source, stranger] = [await app.make.project(), await app.make.project()];
  const [byText, byId] = [
    await app.make.project({ owner: source.owner }),
    await app.make.project({ owner: source.owner }),
  ];
  const key = await add(source, 'shared');
  const form = { title: 'shared', key: sshKeyLine('shared') };
  t.deepEqual((await call('POST', byText, '/keys', { form })).body, key);
  const enabled = await call('POST', byId, `/deploy_keys/${key.id}/enable`);
  t.is(enabled.status, 201);
  t.deepEqual(enabled.body, key);
  t.deepEqual([await ids(byText), await ids(byId)], [[key.id], [key.id]]);
  const refused = await call('POST', stranger, '/keys', { form });
  t.is(refused.status, 400);
  t.deepEqual(refused.body, { message: { fingerprint: taken, key: taken } });
  const hidden = await call('POST', stranger, `/keys/${key.id}/enable`);
  t.is(hidden.status, 404);
  t.deepEqual(hidden.body, { message: '404 Deploy Key Not Found' });
  await app.rows('update keys set public = true where id = $1', [key.id]);
  t.is((await call('POST', stranger, `/keys/${key.id}/enable`)).status, 201, 'a public one is for all');
});

test('taking a key from one project leaves it to the others; the last one removes it', async (t) => {
  const { app } = holder;
  const first = await app.make.project();
  const second = await app.make.project({ owner: first.owner });
  const key = await add(first, 'of two');
  await call('POST', second, `/keys/${key.id}/enable`);
  const disabled = await call('DELETE', second, `/deploy_keys/${key.id}/disable`);
  t.is(disabled.status, 200);
  t.deepEqual(disabled.body, key);
  const again = await call('DELETE', second, `/keys/${key.id}/disable`);
  t.is(again.status, 404);
  t.deepEqual(again.body, { message: '404 Deploy Key Not Found' });
  t.deepEqual(await ids(first), [key.id]);
  t.is((await call('DELETE', first, `/keys/${key.id}`)).status, 200);
  t.deepEqual(await app.rows('select 1 from keys where id = $1', [key.id]), []);
});

test('a key is a user’s or a deploy key, never both', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const form = { title: 't', key: sshKeyLine('of both') };
  const own = await app.call<Key>('POST', '/api/v3/user/keys', { as: project.owner.token, form });
  const refused = await call('POST', project, '/keys', { form });
  t.deepEqual(refused.body, { message: { fingerprint: taken, key: taken } });
  t.is((await call('POST', project, `/keys/${own.body.id}/enable`)).status, 404);
  t.is((await call('DELETE', project, `/keys/${own.body.id}`)).status, 404);
  const deploy = { title: 't', key: sshKeyLine('of the project') };
  await call('POST', project, '/keys', { form: deploy });
  const user = await app.call('POST', '/api/v3/user/keys', { as: project.owner.token, form: deploy });
  t.deepEqual(user.body, { message: { fingerprint: taken, key: taken } });
});

test('keys of removed projects are free for others', async (t) => {
  const { app } = holder;
  const [removed, other] = [await app.make.project(), await app.make.project()];
  const key = await add(removed, 'left over');
  t.is((await app.call('DELETE', `/api/v3/projects/${removed.id}`, { as: removed.owner.token })).status, 200);
  const added = await add(other, 'left over');
  t.true(added.id > key.id);
  await app.runTasks();
  t.deepEqual(await ids(other), [added.id]);
});

test('an administrator sees that a deploy key is nobody’s', async (t) => {
  const project = await holder.app.make.project();
  const key = await add(project, 'of nobody');
  const answer = await holder.app.call('GET', `/api/v3/keys/${key.id}`, { as: rootToken });
  t.deepEqual(answer.body, { ...key, user: null });
});

test('keys of another project are not there', async (t) => {
  const { app } = holder;
  const [project, other] = [await app.make.project(), await app.make.project()];
  const key = await add(other, 'elsewhere');
  t.is((await call('GET', project, `/keys/${key.id}`)).status, 404);
  t.is((await call('DELETE', project, `/keys/${key.id}`)).status, 404);
  t.is((await call('DELETE', project, `/keys/${key.id}/disable`)).status, 404);
  t.deepEqual(await ids(other), [key.id]);
});
