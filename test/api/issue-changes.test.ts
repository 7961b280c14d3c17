import test from 'ava';
import { closeIssue } from '../../server/actions/close-issue.ts';
import { inTransaction } from '../../server/sql.ts';
import { messageOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import { issueCalls } from '../support/issues.ts';

const holder = withApp({ poolSize: 4 });
const { add, change, read, notesOn, eventsOf, openIssuesOf, milestone } = issueCalls(holder);

test('closing and opening again: state, count, note and activity', async (t) => {
  const project = await holder.app.make.project();
  const { token } = project.owner;
  const { body: issue } = await add(project, token);
  const closed = await change(issue, token, { state_event: 'close' });
  t.is(closed.status, 200);
  t.is(closed.body.state, 'closed');
  t.true(closed.body.updated_at > issue.updated_at);
  t.is(await openIssuesOf(project), 0);
  const again = await change(issue, token, { state_event: 'close' });
  t.is(again.status, 200);
  t.deepEqual(again.body, closed.body);
  t.is((await change(issue, token, { state_event: 'reopen' })).body.state, 'opened');
  t.is((await change(issue, token, { state_event: 'reopen' })).body.state, 'opened');
  t.is(await openIssuesOf(project), 1);
  t.deepEqual(await notesOn(issue), ['Status changed to closed', 'Status changed to reopened']);
  t.deepEqual(await eventsOf(issue), ['opened', 'closed', 'opened']);
  t.is((await read(issue, token)).body.user_notes_count, 0);
  const unknown = await change(issue, token, { state_event: 'merge' });
  t.deepEqual([unknown.status, messageOf(unknown)], [400, { state_event: ['is not included in the list'] }]);
});

test('each change leaves its note, and what is not given stays', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const { token } = project.owner;
  const member = await make.member(project, 'guest');
  const milestoneId = await milestone(project, 'v1', 7);
  const { body: issue } = await add(project, token, {
    title: 'Rain',
    description: '- [ ] wait',
    labels: 'bug',
  });
  const changed = await change(issue, token, {
    title: ' Rain! ',
    description: '- [x] wait',
    assignee_id: member.id,
    milestone_id: milestoneId,
    state_event: 'close',
  });
  t.like(changed.body, {
    title: 'Rain!',
    description: '- [x] wait',
    state: 'closed',
    assignee: { id: member.id },
    milestone: { id: milestoneId },
    labels: ['bug'],
  });
  t.deepEqual(await notesOn(issue), [
    'Status changed to closed',
    'Changed title: **Rain** → **Rain{+!+}**',
    'Marked the task **wait** as completed',
    `Reassigned to @${member.username}`,
    'Milestone changed to %7',
  ]);
  const before = await notesOn(issue);
  const blank = { title: '', description: ' ', assignee_id: '', milestone_id: '', state_event: '' };
  t.deepEqual((await change(issue, token, blank)).body, changed.body);
  t.deepEqual(await notesOn(issue), before);
  const cleared = await change(issue, token, { assignee_id: 0, milestone_id: '0' });
  t.like(cleared.body, { assignee: null, milestone: null, title: 'Rain!' });
  t.deepEqual((await notesOn(issue)).slice(before.length), ['Assignee removed', 'Milestone removed']);
  const [row] = await holder.app.rows('select updated_by_id from issues where id = $1', [issue.id]);
  t.deepEqual(row, { updated_by_id: project.owner.id });
});

test('a milestone of another project clears it', async (t) => {
  const { make } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  const [own, foreign] = [await milestone(project, 'v1'), await milestone(other, 'v1')];
  const { body: issue } = await add(project, project.owner.token, { milestone_id: own });
  t.is((await change(issue, project.owner.token, { milestone_id: foreign })).body.milestone, null);
});

test('labels replace all; an empty text takes them away, and none of that counts as a change of the issue', async (t) => {
  const project = await holder.app.make.project();
  const { token } = project.owner;
  const { body: issue } = await add(project, token, { labels: 'a,b' });
  const changed = await change(issue, token, { labels: 'b, c' });
  t.deepEqual(changed.body.labels, ['b', 'c']);
  t.is(changed.body.updated_at, issue.updated_at);
  const refused = await change(issue, token, { labels: 'd,?', title: 'other' });
  t.deepEqual([refused.status, messageOf(refused)], [400, { labels: { '?': { title: ['is invalid'] } } }]);
  t.is((await read(issue, token)).body.title, issue.title);
  t.deepEqual((await change(issue, token, { title: 'x' })).body.labels, ['b', 'c']);
  t.deepEqual((await change(issue, token, { labels: '' })).body.labels, []);
  t.deepEqual(await notesOn(issue), ['Changed title: **{-An issue-}** → **{+x+}**']);
});

test('authors and assignees change their issues, but not labels, assignee and milestone', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const [author, assignee, stranger] = [await make.user(), await make.user(), await make.user()];
  const milestoneId = await milestone(project, 'v1');
  const { body: issue } = await add(project, author.token, { labels: 'bug' });
  await rows('update issues set assignee_id = $2 where id = $1', [issue.id, assignee.id]);
  const json = { labels: 'other', assignee_id: 0, milestone_id: milestoneId };
  for (const { token } of [author, assignee]) {
    const answer = await change(issue, token, { ...json, description: `of ${token}` });
    t.is(answer.status, 200);
    t.like(answer.body, { labels: ['bug'], assignee: { id: assignee.id }, milestone: null });
    t.is(answer.body.description, `of ${token}`);
  }
  t.deepEqual(await rows('select title from labels where project_id = $1', [project.id]), [{ title: 'bug' }]);
  for (const user of [stranger, await make.member(project, 'guest')]) {
    const refused = await change(issue, user.token, { title: 'x', milestone_id: 'y' });
    t.deepEqual([refused.status, messageOf(refused)], [403, '403 Forbidden']);
  }
  const reporter = await make.member(project, 'reporter');
  t.like((await change(issue, reporter.token, json)).body, {
    labels: ['other'],
    assignee: null,
    milestone: { id: milestoneId },
  });
});

test('administrators and owners of personal projects say when an issue was changed, others do not', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const { body: issue } = await add(project, project.owner.token);
  const then = '2016-03-11T03:45:40.000Z';
  const json = { state_event: 'close', title: 'x', updated_at: then };
  t.like((await change(issue, project.owner.token, json)).body, { updated_at: then, state: 'closed' });
  const master = await make.member(project, 'master');
  t.not((await change(issue, master.token, { ...json, title: 'y' })).body.updated_at, then);
  t.is((await change(issue, rootToken, { updated_at: then })).body.updated_at, then);
});

test('hooks hear of each thing that is done, and of no more', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const { token } = project.owner;
  await make.row('hooks', { project_id: project.id, url: 'http://127.0.0.1:1', issues_events: true });
  const { body: issue } = await add(project, token);
  await change(issue, token, { state_event: 'close' });
  await change(issue, token, { state_event: 'close' });
  await change(issue, token, { state_event: 'reopen', title: 'x' });
  await change(issue, token, { title: 'x' });
  await change(issue, token, {});
  const told = await rows<{ subject: { action: string; row: { state: string; title: string } } }>(
    `select d.subject::json as subject from hook_deliveries d join hooks h on h.id = d.hook_id
     where h.project_id = $1 order by d.id`,
    [project.id],
  );
  t.deepEqual(
    told.map(({ subject: { action, row } }) => [action, row.state, row.title]),
    [
      ['open', 'opened', 'An issue'],
      ['close', 'closed', 'An issue'],
      ['reopen', 'opened', 'An issue'],
      ['update', 'opened', 'x'],
      ['update', 'opened', 'x'],
    ],
  );
});

test('a commit or a merge request closes an issue once, and says so', async (t) => {
  const { make, work } = holder.app;
  const project = await make.project();
  const { owner } = project;
  const close = (issueId: number, by: Parameters<typeof closeIssue>[1]['by']) =>
    inTransaction(work, (inner) => closeIssue(inner, { issueId, userId: owner.id, by }));
  const other = await make.project({ owner });
  const api = { id: other.id, path: other.fullPath };
  const request = await make.mergeRequest(other);
  const sha = 'a'.repeat(40);
  const { body: issue } = await add(project, owner.token);
  t.true(await close(issue.id, { commit: sha }));
  t.false(await close(issue.id, { mergeRequest: 3, id: request.id }));
  const { body: second } = await add(project, owner.token);
  t.true(await close(second.id, { mergeRequest: 3, id: request.id }));
  const { body: third } = await add(project, owner.token);
  t.true(await close(third.id, { mergeRequest: 3, id: request.id, project: api }));
  const { body: fourth } = await add(project, owner.token);
  t.true(await close(fourth.id, { commit: sha, project: api }));
  t.deepEqual(await notesOn(issue), [`Status changed to closed by commit ${sha}`]);
  t.deepEqual(await notesOn(second), ['Status changed to closed by merge request !3']);
  t.deepEqual(await notesOn(third), [`Status changed to closed by merge request ${api.path}!3`]);
  t.deepEqual(await notesOn(fourth), [`Status changed to closed by commit ${api.path}@${sha}`]);
  t.deepEqual(await eventsOf(second), ['opened', 'closed']);
  const removed = await make.issue(project, { columns: { deleted_at: new Date() } });
  t.false(await close(removed.id, null));
  t.is(await openIssuesOf(project), 0);
});
