import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp();

interface License {
  key: string;
  name: string;
  featured: boolean;
  content: string;
}

interface Message {
  id: number;
  active: boolean;
  [name: string]: unknown;
}

const keys = `agpl-3.0 apache-2.0 artistic-2.0 bsd-2-clause bsd-3-clause cc0-1.0 epl-1.0 gpl-2.0 gpl-3.0 isc
  lgpl-2.1 lgpl-3.0 mit mpl-2.0 unlicense`.split(/\s+/);

test('fifteen licenses in the order of their keys, without login', async (t) => {
  const { app } = holder;
  const all = await app.call<License[]>('GET', '/api/v3/licenses');
  t.is(all.status, 200);
  t.deepEqual(
    all.body.map(({ key }) => key),
    keys,
  );
  t.is(all.headers.get('x-total'), '15');
  const page = await app.call<License[]>('GET', '/api/v3/licenses', { query: { per_page: '4', page: '4' } });
  t.deepEqual(
    page.body.map(({ key }) => key),
    keys.slice(12),
  );
});

test('the popular ones, whatever says so', async (t) => {
  for (const popular of ['true', '1', 'false']) {
    const { body } = await holder.app.call<License[]>('GET', '/api/v3/licenses', { query: { popular } });
    t.deepEqual(
      body.map(({ key, featured }) => [key, featured]),
      [
        ['apache-2.0', true],
        ['gpl-3.0', true],
        ['mit', true],
      ],
    );
  }
  const blank = await holder.app.call<License[]>('GET', '/api/v3/licenses', { query: { popular: '' } });
  t.is(blank.body.length, 15);
});

test('one license, with what it asks and allows', async (t) => {
  const { body } = await holder.app.call<License>('GET', '/api/v3/licenses/MIT');
  t.like(body, {
    key: 'mit',
    name: 'MIT License',
    featured: true,
    html_url: 'http://choosealicense.com/licenses/mit/',
    conditions: ['include-copyright'],
    permissions: ['commercial-use', 'modifications', 'distribution', 'private-use'],
    limitations: ['no-liability'],
  });
  const unknown = await holder.app.call('GET', '/api/v3/licenses/wtf');
  t.is(unknown.status, 404);
  t.deepEqual(unknown.body, { message: '404 License Not Found' });
});

test('placeholders are filled with year, project and holder', async (t) => {
  const { app } = holder;
  const [row] = await app.rows<{ year: number }>('select extract(year from now())::int as year');
  const user = await app.make.user();
  const text = async (key: string, query: Record<string, string>, as?: string) =>
    (await app.call<License>('GET', `/api/v3/licenses/${key}`, { query, as })).body.content;
  t.true((await text('mit', {})).includes(`Copyright (c) ${row?.year} [fullname]`));
  t.true((await text('mit', {}, user.token)).includes(`(c) ${row?.year} Name of ${user.username}`));
  t.true((await text('bsd-3-clause', { fullname: 'A $& B' }, user.token)).includes(`${row?.year}, A $& B`));
  t.true((await text('apache-2.0', { fullname: 'Ann' })).includes(`Copyright ${row?.year} Ann`));
  const gpl = await text('gpl-3.0', { project: 'Hearth', fullname: 'Ann' });
  t.true(gpl.includes('    Hearth\n'));
  t.false(/one line to give|<year>|name of author/.test(gpl));
  t.true((await text('gpl-2.0', {})).includes('<one line to give'));
  const raw = await app.call<License[]>('GET', '/api/v3/licenses', { as: user.token });
  t.true(raw.body.find(({ key }) => key === 'mit')?.content.includes('[year] [fullname]'));
});

const messages = '/api/v3/broadcast_messages';

test('an administrator makes, changes and removes messages to everybody', async (t) => {
  const { app } = holder;
  const call = (method: string, path: string, json?: unknown) =>
    app.call<Message>(method, messages + path, { as: rootToken, json });
  const made = await call('POST', '', { message: 'Maintenance', color: '#E75E40', font: '#fff' });
  t.is(made.status, 201);
  t.like(made.body, { message: 'Maintenance', color: '#E75E40', font: '#fff', active: true });
  const hour = Date.parse(String(made.body.ends_at)) - Date.parse(String(made.body.starts_at));
  t.is(hour, 3_600_000);
  const place = `/${made.body.id}`;
  t.deepEqual((await call('GET', place)).body, made.body);
  const change = { starts_at: '2016-01-01T00:00:00Z', ends_at: '2016-01-02T00:00:00+01:00' };
  const changed = await call('PUT', place, change);
  t.deepEqual(changed.body, {
    ...made.body,
    starts_at: '2016-01-01T00:00:00.000Z',
    ends_at: '2016-01-01T23:00:00.000Z',
    active: false,
  });
  const later = await call('POST', '', { message: 'Later', starts_at: '2999-01-01T00:00:00Z' });
  t.is(later.body.active, false);
  const list = await app.call<Message[]>('GET', messages, { as: rootToken });
  t.deepEqual(
    list.body.map(({ id }) => id),
    [later.body.id, made.body.id],
  );
  t.is(list.headers.get('x-total'), '2');
  t.deepEqual((await call('DELETE', place)).body, changed.body);
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const absent = await call(method, place);
    t.is(absent.status, 404);
    t.deepEqual(absent.body, { message: '404 Not found' } as never);
  }
});

test('what is wrong with a message is told, and nothing is kept', async (t) => {
  const { app } = holder;
  const faults: [Record<string, string>, unknown][] = [
    [{}, '400 (Bad request) "message" not given'],
    [{ message: 'x', color: 'red' }, { color: ['must be a valid color code'] }],
    [{ message: 'x', font: '#12345' }, { font: ['must be a valid color code'] }],
    [
      { message: 'x', starts_at: '2016-01-02T00:00:00Z', ends_at: '2016-01-01T00:00:00Z' },
      { ends_at: ['must be after starts_at'] },
    ],
    [
      { message: 'x', ends_at: 'tomorrow' },
      '"ends_at" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ',
    ],
  ];
  const count = () => app.rows('select id from broadcast_messages where message = $1', ['x']);
  for (const [form, message] of faults) {
    const answer = await app.call('POST', messages, { as: rootToken, form });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { message });
  }
  t.deepEqual(await count(), []);
});

test('messages are for administrators alone', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  for (const [method, path] of [
    ['GET', messages],
    ['POST', messages],
    ['GET', `${messages}/1`],
    ['PUT', `${messages}/1`],
    ['DELETE', `${messages}/1`],
  ] as const) {
    t.is((await app.call(method, path)).status, 401);
    t.is((await app.call(method, path, { as: user.token })).status, 403);
  }
});
