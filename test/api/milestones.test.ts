import test from 'ava';
import { apiCalls, messageOf, statusesOf } from '../support/api-calls.ts';
import { withApp } from '../support/app.ts';

const holder = withApp({ poolSize: 6 });

interface Milestone {
  id: number;
  iid: number;
  title: string;
  description: string | null;
  due_date: string | null;
  state: string;
  updated_at: string;
}

const call = apiCalls<Milestone>(holder);

async function scene() {
  const project = await holder.app.make.project();
  const { token } = project.owner;
  const path = `/projects/${project.id}/milestones`;
  return {
    project,
    token,
    path,
    add: (title: string, more: Record<string, unknown> = {}) => call('POST', path, token, { title, ...more }),
    change: (id: number, json: Record<string, unknown>) => call('PUT', `${path}/${id}`, token, json),
    list: (query = '') => call<Milestone[]>('GET', `${path}${query}`, token),
  };
}

test('a milestone is made, shown, and numbered in its project', async (t) => {
  const { project, path, token, add } = await scene();
  const made = await add(' <i>1.0</i> ', {
    description: 'The <b>first</b>',
    due_date: '2016-12-25T10:00:00Z',
  });
  t.is(made.status, 201);
  const { id, created_at, updated_at, ...rest } = made.body as Milestone & { created_at: string };
  t.deepEqual<unknown, unknown>(rest, {
    iid: 1,
    project_id: project.id,
    title: '1.0',
    description: 'The <b>first</b>',
    due_date: '2016-12-25',
    state: 'active',
  });
  t.regex(created_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  t.is(updated_at, created_at);
  t.deepEqual((await call('GET', `${path}/${id}`, token)).body, made.body);
  t.is((await add('2.0', { due_date: 'some day' })).body.due_date, null);
  const other = await scene();
  const foreign = await other.add('1.0');
  t.is(foreign.body.iid, 1, 'each project has its own');
  const absent = await call('GET', `${path}/${foreign.body.id}`, token);
  t.deepEqual([absent.status, messageOf(absent)], [404, '404 Not found']);
});

test('milestones are listed newest first, by state and by number', async (t) => {
  const { add, change, list } = await scene();
  const ids: number[] = [];
  for (const title of ['a', 'b', 'c']) ids.unshift((await add(title)).body.id);
  await change(ids[1] ?? 0, { state_event: 'close' });
  const titles = async (query: string) => (await list(query)).body.map(({ title }) => title);
  t.deepEqual(await titles(''), ['c', 'b', 'a']);
  t.deepEqual(await titles('?state=closed'), ['b']);
  t.deepEqual(await titles('?state=active'), ['c', 'a']);
  t.deepEqual(await titles('?state=all'), ['c', 'b', 'a']);
  t.deepEqual(await titles('?iid=1'), ['a']);
  t.deepEqual(await titles('?iid=1&state=closed'), []);
  t.deepEqual(await titles('?per_page=1&page=2'), ['b']);
  t.is((await list('?iid=x')).status, 400);
});

test('what is given changes and the rest stays', async (t) => {
  const { add, change } = await scene();
  const { body } = await add('1.0', { description: 'First', due_date: '2016-12-25' });
  const renamed = await change(body.id, { title: ' 1.1 ', description: '' });
  t.like(renamed.body, { title: '1.1', description: 'First', due_date: '2016-12-25', state: 'active' });
  const moved = await change(body.id, { due_date: 'Jan 2, 2017', description: 'Second' });
  t.like(moved.body, { title: '1.1', description: 'Second', due_date: '2017-01-02' });
  t.is((await change(body.id, { due_date: 'never' })).body.due_date, null);
  const [before] = await holder.app.rows('select * from milestones where id = $1', [body.id]);
  t.is((await change(body.id, {})).status, 200);
  const [after] = await holder.app.rows('select * from milestones where id = $1', [body.id]);
  t.deepEqual(after, before);
});

test('a title that is missing, taken or cannot be is refused', async (t) => {
  const { add, change, path, token } = await scene();
  const { body } = await add('1.0');
  await add('2.0');
  const taken = { title: ['has already been taken'] };
  const missing = await call('POST', path, token, { due_date: '2016-12-25' });
  t.deepEqual([missing.status, messageOf(missing)], [400, '400 (Bad request) "title" not given']);
  for (const [title, message] of [
    ['2.0', taken],
    [' 2.0', taken],
    ['<i></i>', { title: ["can't be blank"] }],
    ['x'.repeat(256), { title: ['is too long (maximum is 255 characters)'] }],
  ] as const) {
    for (const answer of [await add(title), await change(body.id, { title })]) {
      t.deepEqual([answer.status, messageOf(answer)], [400, message]);
    }
  }
  t.is((await change(body.id, { state_event: 'reopen' })).status, 400);
  t.is((await change(body.id, { title: '1.0' })).status, 200, 'its own');
  t.is((await add('3.0')).body.iid, 3, 'a refused one takes no number');
});

test('making, closing and activating are activity of the project, once each', async (t) => {
  const { project, token, add, change } = await scene();
  const { body } = await add('1.0');
  const act = async (state_event: string) => (await change(body.id, { state_event })).body.state;
  t.is(await act('activate'), 'active');
  t.is(await act('close'), 'closed');
  t.is(await act('close'), 'closed');
  t.is(await act('activate'), 'active');
  await change(body.id, { title: '1.1' });
  const events = await call<Record<string, unknown>[]>('GET', `/projects/${project.id}/events`, token);
  t.deepEqual(
    events.body.map(({ action_name }) => action_name),
    ['opened', 'closed', 'opened'],
  );
  for (const event of events.body) {
    t.like(event, { target_type: 'Milestone', target_id: body.id, target_title: '1.0', data: null });
    t.is(event.author_username, project.owner.username);
  }
});

test('the issues of a milestone are shown, open and closed ones, as far as there are issues', async (t) => {
  const { project, path, token, add } = await scene();
  const { make, rows } = holder.app;
  const { body } = await add('1.0');
  const other = await add('2.0');
  const columns = { milestone_id: body.id };
  await make.issue(project, { columns: { ...columns, state: 'closed' } });
  await make.issue(project, { columns });
  await make.issue(project, { columns: { ...columns, deleted_at: new Date() } });
  await make.issue(project, { columns: { milestone_id: other.body.id } });
  await make.issue(project);
  const guest = await make.member(project, 'guest');
  const issues = (id: number) => call<Milestone[]>('GET', `${path}/${id}/issues`, guest.token);
  const found = await issues(body.id);
  t.is(found.headers.get('x-total'), '2');
  t.deepEqual(
    found.body.map(({ iid, state }) => [iid, state]),
    [
      [2, 'opened'],
      [1, 'closed'],
    ],
  );
  const foreign = await (await scene()).add('1.0');
  const absent = await issues(foreign.body.id);
  t.deepEqual([absent.status, messageOf(absent)], [404, '404 Not found']);
  await rows('update projects set issues_enabled = false where id = $1', [project.id]);
  t.is((await issues(body.id)).status, 403);
  t.is((await call('GET', `${path}/${body.id}`, token)).status, 200, 'merge requests have it still');
});

test('masters manage milestones, and everybody who sees the project reads them', async (t) => {
  const { project, path, add } = await scene();
  const { body } = await add('1.0');
  const { make } = holder.app;
  const developer = await make.member(project, 'developer');
  const guest = await make.member(project, 'guest');
  const master = await make.member(project, 'master');
  t.is((await call('POST', path, developer.token, { title: 'x' })).status, 403);
  t.is((await call('PUT', `${path}/${body.id}`, developer.token, { title: 'x' })).status, 403);
  t.is((await call('PUT', `${path}/${body.id}`, master.token, { title: 'x' })).status, 200);
  t.is((await call('GET', `${path}/${body.id}`, guest.token)).body.title, 'x');
  t.is((await call('GET', path, (await make.user()).token)).status, 404);
});

test('twenty milestones at once have twenty numbers without a gap', async (t) => {
  const { add, list } = await scene();
  const answers = await Promise.all(
    // Every fourth is refused, and leaves no gap either.
    Array.from({ length: 20 }, (_, index) => add(index % 4 === 3 ? '<i></i>' : `m${index}`)),
  );
  t.deepEqual(statusesOf(answers), [...Array<number>(15).fill(201), ...Array<number>(5).fill(400)]);
  const iids = (await list('?per_page=100')).body.map(({ iid }) => iid).sort((a, b) => a - b);
  t.deepEqual(
    iids,
    Array.from({ length: 15 }, (_, index) => index + 1),
  );
});

test('of requests with one title, one makes a milestone and the others are refused', async (t) => {
  const { add, change, list } = await scene();
  const answers = await Promise.all(Array.from({ length: 6 }, () => add('same')));
  t.deepEqual(statusesOf(answers), [201, 400, 400, 400, 400, 400]);
  const next = await add('next');
  t.is(next.body.iid, 2);
  const both = await Promise.all([add('one'), change(next.body.id, { title: 'one' })]);
  t.is(both.filter(({ status }) => status === 400).length, 1);
  t.is((await list()).body.filter(({ title }) => title === 'one').length, 1);
});

test('of several that close one milestone, one is told of', async (t) => {
  const { project, add, change } = await scene();
  const { body } = await add('1.0');
  await Promise.all(Array.from({ length: 6 }, () => change(body.id, { state_event: 'close' })));
  const text = "select 1 from events where project_id = $1 and action = 'closed'";
  t.is((await holder.app.rows(text, [project.id])).length, 1);
});
