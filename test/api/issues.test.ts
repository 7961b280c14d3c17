import test from 'ava';
import { messageOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import { issueCalls } from '../support/issues.ts';

const holder = withApp({ poolSize: 4 });
const { call, add, read, eventsOf, openIssuesOf, milestone } = issueCalls(holder);

test('an issue is made with 200, its whole answer, and what follows', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const { owner } = project;
  const milestoneId = await milestone(project, 'v1');
  const made = await add(project, owner.token, {
    title: '  Rain  ',
    description: 'It is **wet**',
    assignee_id: String(owner.id),
    milestone_id: String(milestoneId),
    labels: 'bug, Weather,bug',
  });
  t.is(made.status, 200);
  const { id, created_at, updated_at, author, assignee, milestone: shown, ...rest } = made.body;
  t.deepEqual(rest, {
    iid: 1,
    project_id: project.id,
    title: 'Rain',
    description: 'It is **wet**',
    state: 'opened',
    labels: ['bug', 'Weather'].sort(),
    subscribed: true,
    user_notes_count: 0,
  });
  t.like(author, { id: owner.id, username: owner.username, state: 'active' });
  t.is(assignee?.id, owner.id);
  t.like(shown, { id: milestoneId, title: 'v1', project_id: project.id });
  t.regex(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.is(updated_at, created_at);
  t.deepEqual((await read(made.body, owner.token)).body, made.body);
  t.deepEqual(await eventsOf({ id }), ['opened']);
  t.is(await openIssuesOf(project), 1);
  t.is((await add(project, owner.token)).body.iid, 2);
});

test('what is missing is told before rights are looked at, and after the project is found', async (t) => {
  const { make } = holder.app;
  const off = await make.project({ columns: { issues_enabled: false } });
  const path = `/projects/${off.id}/issues`;
  const missing = await call('POST', path, off.owner.token, { title: ' ' });
  t.is(missing.status, 400);
  t.is(messageOf(missing), '400 (Bad request) "title" not given');
  t.is((await add(off, off.owner.token)).status, 403);
  const stranger = await make.user();
  const hidden = await call('POST', path, stranger.token, {});
  t.is(hidden.status, 404);
  t.is(messageOf(hidden), '404 Project Not Found');
});

test('what cannot be is refused with the property, and nothing is left of it', async (t) => {
  const project = await holder.app.make.project();
  const { token } = project.owner;
  const wrong: [Record<string, unknown>, unknown][] = [
    [{ title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
    [{ labels: 'good, wh&t?' }, { labels: { 'wh&t?': { title: ['is invalid'] } } }],
    [{ assignee_id: 2_000_000_000, labels: 'good' }, { assignee_id: ['is invalid'] }],
    [{ assignee_id: 'me' }, { assignee_id: ['is not a number'] }],
    [{ milestone_id: -1 }, { milestone_id: ['must be greater than or equal to 0'] }],
    [
      { created_at: 'yesterday' },
      '"created_at" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ',
    ],
  ];
  for (const [json, message] of wrong) {
    const answer = await add(project, token, json);
    t.is(answer.status, 400);
    t.deepEqual(messageOf(answer), message);
  }
  t.deepEqual(await holder.app.rows('select 1 from labels where project_id = $1', [project.id]), []);
  t.is((await add(project, token)).body.iid, 1);
});

test('strangers may write issues; what they say of assignee and milestone is dropped, labels are not', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const stranger = await make.user();
  const milestoneId = await milestone(project, 'v1');
  const json = { assignee_id: stranger.id, milestone_id: milestoneId, labels: 'new' };
  const { status, body } = await add(project, stranger.token, json);
  t.is(status, 200);
  t.like(body, { assignee: null, milestone: null, labels: ['new'], author: { id: stranger.id } });
  const guest = await make.member(await make.project(), 'guest');
  t.is((await add(project, guest.token)).status, 200);
});

test('a milestone of another project is as good as none', async (t) => {
  const { make } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  const milestoneId = await milestone(other, 'v1');
  const { status, body } = await add(project, project.owner.token, { milestone_id: milestoneId });
  t.is(status, 200);
  t.is(body.milestone, null);
});

test('administrators and owners of personal projects say when an issue was made, others do not', async (t) => {
  const { make } = holder.app;
  const then = '2016-03-11T03:45:40.000Z';
  const json = { created_at: '2016-03-11T04:45:40+01:00' };
  const project = await make.project();
  const groupId = await make.group();
  const owner = await make.user();
  await make.groupMember(groupId, owner, 'owner');
  const inGroup = await make.project({ namespaceId: groupId });
  const master = await make.member(project, 'master');
  t.is((await add(project, project.owner.token, json)).body.created_at, then);
  t.is((await add(inGroup, rootToken, json)).body.created_at, then);
  t.not((await add(inGroup, owner.token, json)).body.created_at, then);
  t.not((await add(project, master.token, json)).body.created_at, then);
});

test('an issue of another project, a removed one, and none at all are not found', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const { token } = project.owner;
  const elsewhere = await make.issue(await make.project({ visibility: 'public' }));
  const removed = await make.issue(project, { columns: { deleted_at: new Date() } });
  for (const id of [elsewhere.id, removed.id, 0, 999_999_999, 99_999_999_999, 'x']) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await call(method, `/projects/${project.id}/issues/${id}`, token);
      t.is(answer.status, 404, `${method} ${id}`);
      t.is(messageOf(answer), '404 Not found');
    }
  }
});

test('owners and administrators remove issues softly; for others there is none to remove', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const made = await add(project, project.owner.token, { labels: 'bug' });
  const path = `/projects/${project.id}/issues/${made.body.id}`;
  for (const { token } of [await make.user(), await make.member(project, 'master')]) {
    const refused = await call('DELETE', path, token);
    t.is(refused.status, 404);
    t.is(messageOf(refused), '404 Not found');
  }
  t.is(await openIssuesOf(project), 1);
  const removed = await call('DELETE', path, project.owner.token);
  t.is(removed.status, 200);
  t.deepEqual(removed.body, made.body);
  t.is(await openIssuesOf(project), 0);
  t.is((await call('DELETE', path, project.owner.token)).status, 404);
  t.is((await call('GET', path, project.owner.token)).status, 404);
  const listed = await call<unknown[]>('GET', `/projects/${project.id}/issues`, project.owner.token);
  t.deepEqual(listed.body, []);
  t.is(
    (await rows('select 1 from issues where id = $1 and deleted_at is not null', [made.body.id])).length,
    1,
  );
  t.is((await add(project, project.owner.token)).body.iid, 2, 'its number stays taken');
  const other = (await add(project, project.owner.token)).body;
  const otherPath = `/projects/${project.id}/issues/${other.id}`;
  await rows('update projects set issues_enabled = false where id = $1', [project.id]);
  for (const token of [project.owner.token, rootToken]) {
    const refused = await call('DELETE', otherPath, token);
    t.deepEqual([refused.status, messageOf(refused)], [404, '404 Not found']);
  }
  await rows('update projects set issues_enabled = true where id = $1', [project.id]);
  t.is((await call('DELETE', otherPath, rootToken)).status, 200);
});

test('subscriptions: 201, 304 when nothing changes, and the choice counts more than taking part', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const { body: issue } = await add(project, project.owner.token);
  const path = `/projects/${project.id}/issues/${issue.id}/subscription`;
  const stranger = await make.user();
  const unsubscribed = await call('DELETE', path, stranger.token);
  t.is(unsubscribed.status, 304);
  t.is(unsubscribed.body as unknown, '');
  const subscribed = await call('POST', path, stranger.token);
  t.is(subscribed.status, 201);
  t.like(subscribed.body, { id: issue.id, subscribed: true });
  t.is((await call('POST', path, stranger.token)).status, 304);
  t.true((await read(issue, stranger.token)).body.subscribed);
  t.is((await call('POST', path, project.owner.token)).status, 304, 'he wrote it');
  const left = await call('DELETE', path, project.owner.token);
  t.is(left.status, 200);
  t.like(left.body, { id: issue.id, subscribed: false });
  await make.note(project, { type: 'Issue', id: issue.id }, { author: project.owner });
  t.false((await read(issue, project.owner.token)).body.subscribed, 'whatever he says afterwards');
});

test('who takes part is subscribed: assignee, who commented, who is named', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const [assignee, speaker, named, noted, stranger] = await Promise.all(
    [1, 2, 3, 4, 5].map(() => make.user()),
  );
  const issue = await make.issue(project, { columns: { assignee_id: assignee?.id } });
  const place = { id: issue.id, project_id: project.id };
  await make.note(project, { type: 'Issue', id: issue.id }, { author: { id: speaker?.id ?? 0 } });
  const columns = { system: true };
  await make.note(project, { type: 'Issue', id: issue.id }, { author: { id: noted?.id ?? 0 }, columns });
  await make.row('mentions', { user_id: named?.id, issue_id: issue.id });
  const seen = [assignee, speaker, named, noted, stranger].map(async (user) => {
    return (await read(place, user?.token ?? '')).body.subscribed;
  });
  t.deepEqual(await Promise.all(seen), [true, true, true, false, false]);
});
