import test from 'ava';
import { apiCalls, messageOf, statusesOf } from '../support/api-calls.ts';
import { withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp({ poolSize: 6 });

interface Label {
  name: string;
  color: string;
  description: string | null;
}

const call = apiCalls<Label>(holder);
const red = '#ff0000';

function labelsOf(project: { id: number }): string {
  return `/projects/${project.id}/labels`;
}

function add(project: MadeProject, name: string, more: Record<string, unknown> = {}) {
  return call('POST', labelsOf(project), project.owner.token, { name, color: red, ...more });
}

async function idOf(project: { id: number }, title: string): Promise<number> {
  const text = 'select id from labels where project_id = $1 and title = $2';
  const [row] = await holder.app.rows<{ id: number }>(text, [project.id, title]);
  return row?.id ?? 0;
}

async function addIssue(project: MadeProject, labels: string[], columns = ''): Promise<number> {
  const [issue] = await holder.app.rows<{ id: number }>(
    `insert into issues (project_id, iid, title, author_id)
     select $1, count(*) + 1, 'x', $2 from issues where project_id = $1 returning id`,
    [project.id, project.owner.id],
  );
  for (const label of labels) {
    const text = 'insert into issue_labels (issue_id, label_id) values ($1, $2)';
    await holder.app.rows(text, [issue?.id, await idOf(project, label)]);
  }
  if (columns !== '') await holder.app.rows(`update issues set ${columns} where id = $1`, [issue?.id]);
  return issue?.id ?? 0;
}

async function addMergeRequest(project: MadeProject, label: string, columns: string): Promise<void> {
  await holder.app.rows(
    `with made as (
       insert into merge_requests (project_id, iid, source_branch, target_branch, title, author_id)
       select $1, count(*) + 1, 'b' || count(*), 'master', 'x', $2 from merge_requests where project_id = $1
       returning id
     )
     insert into merge_request_labels (merge_request_id, label_id) select id, $3 from made`,
    [project.id, project.owner.id, await idOf(project, label)],
  );
  await holder.app.rows(
    `update merge_requests set ${columns} where id = (select max(id) from merge_requests)`,
  );
}

test('a label is made with 200, and refused with 409 when its title is there', async (t) => {
  const project = await holder.app.make.project();
  const made = await add(project, ' a <b>bug</b> ', { description: 'Broken' });
  t.is(made.status, 200);
  t.deepEqual(made.body, { name: 'a bug', color: red, description: 'Broken' });
  const again = await add(project, 'a bug');
  t.is(again.status, 409);
  t.is(messageOf(again), 'Label already exists');
  t.is((await add(project, 'A bug')).status, 200, 'the case makes a difference');
  const other = await holder.app.make.project();
  t.is((await add(other, 'a bug')).status, 200, 'each project has its own');
});

test('what a label lacks or cannot be is told by its name', async (t) => {
  const project = await holder.app.make.project();
  for (const [json, message] of [
    [{ color: red }, '400 (Bad request) "name" not given'],
    [{ name: 'x' }, '400 (Bad request) "color" not given'],
    [{ name: 'a,b', color: red }, { title: ['is invalid'] }],
    [{ name: 'a&b', color: red }, { title: ['is invalid'] }],
    [
      { name: 'a?', color: 'red' },
      { title: ['is invalid'], color: ['must be a valid color code'] },
    ],
    [{ name: '<i></i>', color: red }, { title: ["can't be blank"] }],
    [{ name: 'x'.repeat(256), color: red }, { title: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'x', color: '#fff' }, { color: ['must be a valid color code'] }],
  ] as [Record<string, unknown>, unknown][]) {
    const answer = await call('POST', labelsOf(project), project.owner.token, json);
    t.is(answer.status, 400);
    t.deepEqual(messageOf(answer), message);
  }
  t.deepEqual((await call('GET', labelsOf(project), project.owner.token)).body as unknown, []);
});

test('labels are listed by title with the numbers of open and closed things that have them', async (t) => {
  const project = await holder.app.make.project();
  for (const name of ['second', 'first']) await add(project, name);
  await addIssue(project, ['first', 'second']);
  await addIssue(project, ['first'], "state = 'closed'");
  await addIssue(project, ['first'], 'deleted_at = now()');
  await addMergeRequest(project, 'first', "state = 'opened'");
  await addMergeRequest(project, 'first', "state = 'reopened'");
  await addMergeRequest(project, 'first', "state = 'merged'");
  await addMergeRequest(project, 'second', 'deleted_at = now()');
  const list = await call<unknown[]>('GET', labelsOf(project), project.owner.token);
  const none = { closed_issues_count: 0, open_merge_requests_count: 0 };
  const shared = { color: red, description: null, open_issues_count: 1 };
  t.deepEqual(list.body, [
    { ...shared, name: 'first', closed_issues_count: 1, open_merge_requests_count: 2 },
    { ...shared, ...none, name: 'second' },
  ]);
  const page = await call<Label[]>('GET', `${labelsOf(project)}?per_page=1&page=2`, project.owner.token);
  t.deepEqual([page.body.map(({ name }) => name), page.headers.get('x-total')], [['second'], '2']);
});

test('a label is changed by name, and what has it goes on having it', async (t) => {
  const project = await holder.app.make.project();
  const { token } = project.owner;
  await add(project, 'old', { description: 'Words' });
  await add(project, 'taken');
  const id = await idOf(project, 'old');
  const change = (json: Record<string, unknown>) => call('PUT', labelsOf(project), token, json);
  const renamed = await change({ name: 'old', new_name: 'new' });
  t.deepEqual([renamed.status, renamed.body], [200, { name: 'new', color: red, description: 'Words' }]);
  t.is(await idOf(project, 'new'), id);
  const painted = await change({ name: 'new', color: '#00FF00', description: 'Others' });
  t.deepEqual(painted.body, { name: 'new', color: '#00FF00', description: 'Others' });
  for (const [json, status, message] of [
    [{ new_name: 'x' }, 400, '400 (Bad request) "name" not given'],
    [{ name: 'new' }, 400, 'Required parameters "new_name" or "color" missing'],
    [{ name: 'new', description: 'x' }, 400, 'Required parameters "new_name" or "color" missing'],
    [{ name: 'old', new_name: 'x' }, 404, '404 Label Not Found'],
    [{ name: 'new', new_name: 'taken' }, 400, { title: ['has already been taken'] }],
    [{ name: 'new', new_name: 'a,b' }, 400, { title: ['is invalid'] }],
    [{ name: 'new', color: 'green' }, 400, { color: ['must be a valid color code'] }],
  ] as [Record<string, unknown>, number, unknown][]) {
    const answer = await change(json);
    t.deepEqual([answer.status, messageOf(answer)], [status, message]);
  }
});

test('a removed label is shown as it was stored, and nothing has it any more', async (t) => {
  const project = await holder.app.make.project();
  const { token } = project.owner;
  await add(project, 'bug', { description: 'Words' });
  const id = await idOf(project, 'bug');
  const issue = await addIssue(project, ['bug']);
  const path = `${labelsOf(project)}?name=bug`;
  const removed = await call<Record<string, unknown>>('DELETE', path, token);
  t.is(removed.status, 200);
  t.like(removed.body, { id, title: 'bug', color: red, description: 'Words', project_id: project.id });
  t.is(removed.body.template, false);
  t.deepEqual(await holder.app.rows('select 1 from issue_labels where issue_id = $1', [issue]), []);
  const again = await call('DELETE', path, token);
  t.deepEqual([again.status, messageOf(again)], [404, '404 Label Not Found']);
  t.is((await call('DELETE', labelsOf(project), token)).status, 400);
});

test('whoever reads a label subscribes to it by id or title, and once', async (t) => {
  const project = await holder.app.make.project();
  const { token } = await holder.app.make.member(project, 'guest');
  await add(project, 'a/b bug');
  const id = await idOf(project, 'a/b bug');
  const path = (word: number | string) => `${labelsOf(project)}/${word}/subscription`;
  const byTitle = path(encodeURIComponent('a/b bug'));
  const counts = { open_issues_count: 0, closed_issues_count: 0, open_merge_requests_count: 0 };
  const label = { name: 'a/b bug', color: red, description: null, ...counts };
  t.is((await call('DELETE', path(id), token)).status, 304, 'at first nobody is');
  const made = await call('POST', path(id), token);
  t.deepEqual([made.status, made.body as unknown], [201, { ...label, subscribed: true }]);
  const again = await call('POST', byTitle, token);
  t.deepEqual([again.status, again.body as unknown], [304, '']);
  const ended = await call('DELETE', byTitle, token);
  t.deepEqual([ended.status, ended.body as unknown], [200, { ...label, subscribed: false }]);
  t.is((await call('DELETE', path(id), token)).status, 304);
  t.is((await call('POST', path(id), token)).status, 201);
  t.is((await call('POST', path(id), project.owner.token)).status, 201, 'everybody for himself');
});

test('a number is an id before it is a title, and names no label of another project', async (t) => {
  const project = await holder.app.make.project();
  const other = await holder.app.make.project();
  const { token } = project.owner;
  await add(other, 'foreign');
  await add(project, 'own');
  const own = await idOf(project, 'own');
  const foreign = await idOf(other, 'foreign');
  await add(project, String(own));
  await add(project, String(foreign));
  const subscribe = async (word: number | string) =>
    call('POST', `${labelsOf(project)}/${word}/subscription`, token);
  t.is((await subscribe(own)).body.name, 'own');
  t.is((await subscribe(foreign)).body.name, String(foreign));
  const absent = await subscribe('foreign');
  t.deepEqual([absent.status, messageOf(absent)], [404, '404 Label Not Found']);
  t.is((await subscribe('99999999999999999999')).status, 404);
});

test('reporters manage labels, guests only read them, and without issues and merge requests there are none', async (t) => {
  const project = await holder.app.make.project();
  const guest = await holder.app.make.member(project, 'guest');
  const reporter = await holder.app.make.member(project, 'reporter');
  const json = { name: 'x', color: red };
  t.is((await call('POST', labelsOf(project), guest.token, json)).status, 403);
  t.is((await call('POST', labelsOf(project), reporter.token, json)).status, 200);
  t.is((await call('GET', labelsOf(project), guest.token)).status, 200);
  await holder.app.rows('update projects set issues_enabled = false where id = $1', [project.id]);
  t.is((await call('GET', labelsOf(project), guest.token)).status, 200);
  await holder.app.rows('update projects set merge_requests_enabled = false where id = $1', [project.id]);
  t.is((await call('GET', labelsOf(project), guest.token)).status, 403);
});

test('of twenty requests that make one label, one does', async (t) => {
  const project = await holder.app.make.project();
  const answers = await Promise.all(Array.from({ length: 20 }, () => add(project, 'same')));
  t.deepEqual(statusesOf(answers), [200, ...Array<number>(19).fill(409)]);
  const list = await call<Label[]>('GET', labelsOf(project), project.owner.token);
  t.deepEqual(
    list.body.map(({ name }) => name),
    ['same'],
  );
});

test('of requests that give two labels one title, one does', async (t) => {
  const project = await holder.app.make.project();
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) await add(project, name);
  const rename = (name: string) =>
    call('PUT', labelsOf(project), project.owner.token, { name, new_name: 'same' });
  const answers = await Promise.all(names.map(rename));
  t.deepEqual(statusesOf(answers), [200, 400, 400, 400]);
});
