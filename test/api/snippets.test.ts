import test from 'ava';
import { apiCalls, messageOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

interface Snippet {
  id: number;
  title: string;
  file_name: string;
  author: { username: string };
}

const call = apiCalls<Snippet>(holder);
const words = { title: 'A list', file_name: 'list.rb', code: '[1, 2]\n', visibility_level: 10 };

async function scene(visibility: 'private' | 'public' = 'private') {
  const project = await holder.app.make.project({ visibility, columns: { snippets_enabled: true } });
  const path = `/projects/${project.id}/snippets`;
  return {
    project,
    path,
    add: (by: MadeUser, more: Record<string, unknown> = {}) =>
      call('POST', path, by.token, { ...words, ...more }),
    member: (level: 'guest' | 'reporter' | 'master') => holder.app.make.member(project, level),
  };
}

test('a snippet is made, shown and listed newest first', async (t) => {
  const { project, path, add } = await scene();
  const { token, username } = project.owner;
  const made = await add(project.owner, { title: ' A <b>list</b> ' });
  t.is(made.status, 201);
  const { id, author, ...rest } = made.body as Snippet & Record<string, unknown>;
  t.is(author.username, username);
  t.like(rest, { title: 'A <b>list</b>', file_name: 'list.rb', expires_at: null });
  const keys = ['author', 'created_at', 'expires_at', 'file_name', 'id', 'title', 'updated_at'];
  t.deepEqual(Object.keys(made.body).sort(), keys);
  t.deepEqual((await call('GET', `${path}/${id}`, token)).body, made.body);
  const second = await add(project.owner);
  const list = await call<Snippet[]>('GET', path, token);
  t.deepEqual(list.body, [second.body, made.body]);
  t.is(list.headers.get('x-total'), '2');
});

test('the content is served as it was sent, and so that no browser runs it', async (t) => {
  const { project, path, add } = await scene();
  const code = ' <script>alert("ü")</script>\r\n';
  const { body } = await add(project.owner, { code, file_name: 'evil.html' });
  const raw = await call<string>('GET', `${path}/${body.id}/raw`, project.owner.token);
  t.is(raw.status, 200);
  t.is(raw.body, code);
  t.is(raw.headers.get('content-type'), 'text/plain');
  t.is(raw.headers.get('content-length'), String(Buffer.byteLength(code)));
  t.is(raw.headers.get('x-content-type-options'), 'nosniff');
  t.is(raw.headers.get('content-security-policy'), "default-src 'none'; sandbox");
  t.is(raw.headers.get('content-disposition'), 'inline; filename="evil.html"');
});

test('what a snippet lacks or cannot be is told, the first in order', async (t) => {
  const { project, path, add } = await scene();
  const order = ['title', 'file_name', 'code', 'visibility_level'] as const;
  for (const [index, name] of order.entries()) {
    const given = Object.fromEntries(order.slice(0, index).map((key) => [key, words[key]]));
    const answer = await call('POST', path, project.owner.token, given);
    t.deepEqual([answer.status, messageOf(answer)], [400, `400 (Bad request) "${name}" not given`]);
  }
  const signs = "can contain only letters, digits, '_', '-', '@' and '.'.";
  const long = 'is too long (maximum is 255 characters)';
  for (const [json, message] of [
    [{ code: ' \n' }, '400 (Bad request) "code" not given'],
    [{ file_name: 'a/b' }, { file_name: [signs] }],
    [
      { title: 'x'.repeat(256), file_name: 'x'.repeat(256) },
      { title: [long], file_name: [long] },
    ],
    [{ visibility_level: 5 }, { visibility_level: ['is not included in the list'] }],
    [{ visibility_level: 'x' }, { visibility_level: ['is not a number'] }],
  ] as [Record<string, unknown>, unknown][]) {
    const answer = await add(project.owner, json);
    t.deepEqual([answer.status, messageOf(answer)], [400, message]);
  }
});

test('a private snippet is there for its author and administrators alone', async (t) => {
  const { project, path, add, member } = await scene();
  const author = await member('reporter');
  const { body } = await add(author, { visibility_level: 0 });
  const one = `${path}/${body.id}`;
  const idsFor = async (token: string) =>
    (await call<Snippet[]>('GET', path, token)).body.map(({ id }) => id);
  for (const token of [author.token, rootToken]) {
    t.is((await call('GET', one, token)).status, 200);
    t.is((await call('GET', `${one}/raw`, token)).status, 200);
    t.deepEqual(await idsFor(token), [body.id]);
  }
  for (const { token } of [project.owner, await member('guest')]) {
    for (const target of [one, `${one}/raw`]) {
      const hidden = await call('GET', target, token);
      t.deepEqual([hidden.status, messageOf(hidden)], [404, '404 Not found']);
    }
    t.is((await call('PUT', one, token, { title: 'x' })).status, 404);
    t.is((await call('DELETE', one, token)).body, null as unknown as Snippet);
    t.deepEqual(await idsFor(token), []);
  }
  t.is((await call('GET', one, author.token)).status, 200);
});

test('an internal snippet is hidden from external users who take no part, and a public one from nobody', async (t) => {
  const { path, project, add } = await scene('public');
  const internal = (await add(project.owner, { visibility_level: 10 })).body.id;
  const open = (await add(project.owner, { visibility_level: 20 })).body.id;
  const { make, rows } = holder.app;
  const external = await make.user({ external: true });
  const member = await make.member(project, 'guest');
  await rows('update users set external = true where id = $1', [member.id]);
  const seen = async ({ token }: MadeUser) =>
    (await call<Snippet[]>('GET', path, token)).body.map(({ id }) => id);
  t.deepEqual(await seen(external), [open]);
  t.is((await call('GET', `${path}/${internal}`, external.token)).status, 404);
  t.deepEqual(await seen(member), [open, internal]);
  t.deepEqual(await seen(await make.user()), [open, internal]);
});

test('authors and masters change a snippet, others who see it may not', async (t) => {
  const { path, project, add, member } = await scene();
  const author = await member('reporter');
  const { body } = await add(author);
  const one = `${path}/${body.id}`;
  const changed = await call('PUT', one, author.token, { title: 'Other', code: 'x', visibility_level: 20 });
  t.deepEqual([changed.status, changed.body.title, changed.body.file_name], [200, 'Other', 'list.rb']);
  t.is((await call<string>('GET', `${one}/raw`, author.token)).body, 'x');
  t.is(
    (await call('PUT', one, (await member('master')).token, { file_name: 'b.rb' })).body.file_name,
    'b.rb',
  );
  const reporter = await member('reporter');
  t.is((await call('PUT', one, reporter.token, { title: 'x' })).status, 403);
  t.is((await call('DELETE', one, reporter.token)).status, 403);
  const wrong = await call('PUT', one, author.token, { file_name: 'a b' });
  t.is(wrong.status, 400);
  const [row] = await holder.app.rows(
    'select title, file_name, visibility_level from snippets where id = $1',
    [body.id],
  );
  t.deepEqual(row, { title: 'Other', file_name: 'b.rb', visibility_level: 20 });
  const guest = await member('guest');
  t.is((await add(guest)).status, 403);
  await holder.app.rows('update projects set snippets_enabled = false where id = $1', [project.id]);
  t.is((await call('GET', path, author.token)).status, 403);
});

test('a snippet goes with what was said of it, and may go twice', async (t) => {
  const { path, project, add } = await scene();
  const { body } = await add(project.owner);
  const kept = await add(project.owner);
  const { rows } = holder.app;
  for (const [type, id] of [
    ['Snippet', body.id],
    ['Issue', body.id],
    ['Snippet', kept.body.id],
  ]) {
    await rows(
      `insert into notes (project_id, author_id, noteable_type, noteable_id, body) values ($1, $2, $3, $4, 'x')`,
      [project.id, project.owner.id, type, id],
    );
  }
  const removed = await call('DELETE', `${path}/${body.id}`, project.owner.token);
  t.deepEqual([removed.status, removed.body], [200, body]);
  const again = await call<unknown>('DELETE', `${path}/${body.id}`, project.owner.token);
  t.deepEqual([again.status, again.body], [200, null]);
  const left = await rows<{ noteable_type: string; noteable_id: number }>(
    'select noteable_type, noteable_id from notes where project_id = $1 order by id',
    [project.id],
  );
  t.deepEqual(left, [
    { noteable_type: 'Issue', noteable_id: body.id },
    { noteable_type: 'Snippet', noteable_id: kept.body.id },
  ]);
});

test.serial(
  'levels that the administrator keeps from others are refused, and kept where they are',
  async (t) => {
    const { path, project, add } = await scene();
    const { body } = await add(project.owner, { visibility_level: 20 });
    await holder.app.rows("update settings set restricted_visibility_levels = '{20}'");
    t.teardown(() => holder.app.rows("update settings set restricted_visibility_levels = '{}'"));
    const restricted = { visibility_level: ['public has been restricted by your GitLab administrator'] };
    const refused = await add(project.owner, { visibility_level: 20 });
    t.deepEqual([refused.status, messageOf(refused)], [400, restricted]);
    const one = `${path}/${body.id}`;
    const kept = { title: 'Kept', visibility_level: 20 };
    t.is((await call('PUT', one, project.owner.token, kept)).body.title, 'Kept');
    t.is((await call('PUT', one, project.owner.token, { visibility_level: 10 })).status, 200);
    t.is((await call('PUT', one, project.owner.token, { visibility_level: 20 })).status, 400);
    t.is((await call('PUT', one, rootToken, { visibility_level: 20 })).status, 200);
  },
);
