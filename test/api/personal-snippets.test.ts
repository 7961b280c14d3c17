import test from 'ava';
import { apiCalls, messageOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

interface Snippet {
  id: number;
  title: string;
  file_name: string;
}

const call = apiCalls<Snippet>(holder);

function add(by: MadeUser, more: Record<string, unknown> = {}) {
  return call('POST', '/snippets', by.token, { title: 'A', file_name: 'a.rb', content: 'puts 1', ...more });
}

async function levelOf(id: number): Promise<number | undefined> {
  const text = 'select visibility_level from snippets where id = $1';
  return (await holder.app.rows<{ visibility_level: number }>(text, [id]))[0]?.visibility_level;
}

test('a personal snippet is made, listed, changed and removed by its author', async (t) => {
  const { make } = holder.app;
  const author = await make.user();
  const made = await add(author);
  t.is(made.status, 201);
  const keys = ['author', 'created_at', 'expires_at', 'file_name', 'id', 'title', 'updated_at'];
  t.deepEqual(Object.keys(made.body).sort(), keys);
  const second = await add(author, { content: undefined, code: 'puts 2' });
  const one = `/snippets/${second.body.id}`;
  const list = await call<Snippet[]>('GET', '/snippets', author.token);
  t.deepEqual(list.body, [second.body, made.body]);
  t.is((await call<string>('GET', `${one}/raw`, author.token)).body, 'puts 2');
  const changed = await call('PUT', one, author.token, { title: 'B', content: 'puts 3' });
  t.deepEqual([changed.status, changed.body.title, changed.body.file_name], [200, 'B', 'a.rb']);
  const raw = await call<string>('GET', `${one}/raw`, author.token);
  t.is(raw.body, 'puts 3');
  t.is(raw.headers.get('content-security-policy'), "default-src 'none'; sandbox");
  t.deepEqual((await call('DELETE', one, author.token)).body, changed.body);
  const again = await call<unknown>('DELETE', one, author.token);
  t.deepEqual([again.status, again.body], [200, null]);
  const gone = await call('GET', one, author.token);
  t.deepEqual([gone.status, messageOf(gone)], [404, '404 Snippet Not Found']);
});

test('others see it as far as its level says, and never change it', async (t) => {
  const { make } = holder.app;
  const author = await make.user();
  const stranger = await make.user();
  const external = await make.user({ external: true });
  for (const [level, forStranger, forExternal] of [
    [0, 404, 404],
    [10, 200, 404],
    [20, 200, 200],
  ] as const) {
    const { body } = await add(author, { visibility_level: level });
    const one = `/snippets/${body.id}`;
    for (const path of [one, `${one}/raw`]) {
      t.is((await call('GET', path, stranger.token)).status, forStranger);
      t.is((await call('GET', path, external.token)).status, forExternal);
      t.is((await call('GET', path, rootToken)).status, 200);
      t.is((await call('GET', path, undefined)).status, 401);
    }
    t.is((await call('PUT', one, stranger.token, { title: 'x' })).status, forStranger === 200 ? 403 : 404);
    t.is((await call('DELETE', one, stranger.token)).status, forStranger === 200 ? 403 : 200);
    t.is((await call('GET', one, author.token)).body.title, 'A');
    t.is((await call('PUT', one, rootToken, { title: 'x' })).status, 200);
  }
  t.deepEqual((await call<Snippet[]>('GET', '/snippets', stranger.token)).body, []);
});

test('those of projects are no personal ones, and the other way round', async (t) => {
  const project = await holder.app.make.project({ columns: { snippets_enabled: true } });
  const { owner } = project;
  const json = { title: 'A', file_name: 'a', code: 'x', visibility_level: 20 };
  const inProject = await call('POST', `/projects/${project.id}/snippets`, owner.token, json);
  const personal = await add(owner);
  t.is((await call('GET', `/snippets/${inProject.body.id}`, owner.token)).status, 404);
  t.is((await call('GET', `/projects/${project.id}/snippets/${personal.body.id}`, owner.token)).status, 404);
  t.deepEqual((await call<Snippet[]>('GET', '/snippets', owner.token)).body, [personal.body]);
  const listed = await call<Snippet[]>('GET', `/projects/${project.id}/snippets`, owner.token);
  t.deepEqual(listed.body, [inProject.body]);
});

test('what it lacks is told', async (t) => {
  const author = await holder.app.make.user();
  for (const [json, name] of [
    [{ file_name: 'a', content: 'x' }, 'title'],
    [{ title: 'a', content: 'x' }, 'file_name'],
    [{ title: 'a', file_name: 'a' }, 'content'],
    [{ title: 'a', file_name: 'a', content: ' ' }, 'content'],
  ] as const) {
    const answer = await call('POST', '/snippets', author.token, json);
    t.deepEqual([answer.status, messageOf(answer)], [400, `400 (Bad request) "${name}" not given`]);
  }
});

test.serial('without a level it gets that of the instance, as far as the author may choose it', async (t) => {
  const author = await holder.app.make.user();
  t.is(await levelOf((await add(author)).body.id), 0);
  await holder.app.rows(
    "update settings set default_snippet_visibility = 20, restricted_visibility_levels = '{20}'",
  );
  t.teardown(() =>
    holder.app.rows(
      "update settings set default_snippet_visibility = 0, restricted_visibility_levels = '{}'",
    ),
  );
  t.is(await levelOf((await add(author)).body.id), 10);
  t.is((await add(author, { visibility_level: 20 })).status, 400);
});
