import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { messageOf } from '../support/api-calls.ts';
import { withApp } from '../support/app.ts';
import { type IssueAnswer, issueCalls } from '../support/issues.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';

const holder = withApp({ poolSize: 4 });
const { call, add, change, read, notesOn, eventsOf, openIssuesOf, milestone } = issueCalls(holder);

const insufficient = 'Cannot move issue due to insufficient permissions!';

function move(issue: { id: number; project_id: number }, as: string, to: unknown) {
  return call('POST', `/projects/${issue.project_id}/issues/${issue.id}/move`, as, { to_project_id: to });
}

/** Two projects of one owner. */
async function twoProjects(): Promise<[MadeProject, MadeProject]> {
  const from = await holder.app.make.project();
  return [from, await holder.app.make.project({ owner: from.owner })];
}

function say(issue: IssueAnswer, author: MadeUser, columns: Record<string, unknown>): Promise<number> {
  const { make } = holder.app;
  return make.note({ id: issue.project_id }, { type: 'Issue', id: issue.id }, { author, columns });
}

test('the new issue is like the old one, which is closed and says where it went', async (t) => {
  const { make, rows } = holder.app;
  const [from, to] = await twoProjects();
  const [author, mover] = [await make.member(from, 'reporter'), await make.member(from, 'reporter')];
  await make.row('project_members', { project_id: to.id, user_id: mover.id, access_level: 20 });
  await make.issue(to);
  const json = { description: 'Wet', assignee_id: author.id };
  const { body: issue } = await add(from, author.token, json);
  await rows("update issues set created_at = '2016-01-07T12:44:33.959Z' where id = $1", [issue.id]);
  const moved = await move(issue, mover.token, to.id);
  t.is(moved.status, 201);
  t.like(moved.body, {
    iid: 2,
    project_id: to.id,
    title: issue.title,
    description: 'Wet',
    state: 'opened',
    created_at: '2016-01-07T12:44:33.959Z',
    author: { id: author.id },
    assignee: { id: author.id },
  });
  t.not(moved.body.id, issue.id);
  t.deepEqual(await notesOn(moved.body), [`Moved from ${from.fullPath}#1`]);
  t.deepEqual(await notesOn(issue), [`Moved to ${to.fullPath}#2`]);
  t.is((await read(issue, author.token)).body.state, 'closed');
  t.deepEqual(await eventsOf(issue), ['opened', 'closed']);
  t.deepEqual(await eventsOf(moved.body), ['opened']);
  t.deepEqual([await openIssuesOf(from), await openIssuesOf(to)], [0, 2]);
  const [row] = await rows('select moved_to_id from issues where id = $1', [issue.id]);
  t.deepEqual(row, { moved_to_id: moved.body.id });
  t.like((await read(moved.body, from.owner.token)).body, moved.body);
});

test('a closed issue is closed there too', async (t) => {
  const [from, to] = await twoProjects();
  const { token } = from.owner;
  const { body: issue } = await add(from, token);
  await change(issue, token, { state_event: 'close' });
  t.is((await move(issue, token, to.id)).body.state, 'closed');
  t.deepEqual(await eventsOf(issue), ['opened', 'closed']);
  t.deepEqual([await openIssuesOf(from), await openIssuesOf(to)], [0, 0]);
});

test('labels and milestone come along where the other project has the like', async (t) => {
  const { make } = holder.app;
  const [from, to] = await twoProjects();
  const { token } = from.owner;
  await make.label(to, 'b');
  await make.label(to, 'c');
  const [kept, lost] = [await milestone(from, 'v1', 1), await milestone(from, 'v2', 2)];
  const like = await milestone(to, 'v1', 5);
  const { body: first } = await add(from, token, { labels: 'a,b,c', milestone_id: kept });
  const { body: second } = await add(from, token, { labels: 'a', milestone_id: lost });
  t.like((await move(first, token, to.id)).body, { labels: ['b', 'c'], milestone: { id: like } });
  t.like((await move(second, token, to.id)).body, { labels: [], milestone: null });
});

test('all that was said comes along in its order, and who hears of it', async (t) => {
  const { make, rows } = holder.app;
  const [from, to] = await twoProjects();
  const { owner } = from;
  const [speaker, named, leaver] = [await make.user(), await make.user(), await make.user()];
  for (const user of [speaker, named, leaver]) {
    for (const { id } of [from, to]) {
      await make.row('project_members', { project_id: id, user_id: user.id, access_level: 10 });
    }
  }
  const { body: issue } = await add(from, owner.token);
  const then = '2016-01-07T12:44:33.959Z';
  for (let count = 0; count < 230; count += 1)
    await say(issue, speaker, { body: `Comment ${count}`, created_at: then });
  await say(issue, owner, { body: 'thumbsup', is_award: true });
  await say(issue, owner, { body: 'Status changed to closed', system: true });
  const reference = { reference_type: 'Snippet', reference_project_id: from.id, reference_id: 1 };
  await say(issue, owner, { body: 'mentioned in snippet 1', system: true, ...reference });
  const noteId = await say(issue, owner, { body: `@${named.username}`, updated_by_id: speaker.id });
  await make.row('mentions', { user_id: named.id, issue_id: issue.id, note_id: noteId });
  await rows('update issues set user_notes_count = 232 where id = $1', [issue.id]);
  await make.row('subscriptions', { user_id: leaver.id, issue_id: issue.id, subscribed: true });
  const { body: moved } = await move(issue, owner.token, to.id);
  const kept = `select author_id, body, system, is_award, updated_by_id, created_at, reference_type,
      reference_project_id, reference_id, reference_sha from notes
    where noteable_type = 'Issue' and noteable_id = $1 and body not like 'Moved%' order by id`;
  t.deepEqual(await rows(kept, [moved.id]), await rows(kept, [issue.id]));
  t.is((await notesOn(moved)).length, 235);
  t.is((await notesOn(moved)).at(-1), `Moved from ${from.fullPath}#1`);
  t.is(moved.user_notes_count, 232);
  const mentions = `select m.user_id, n.body from mentions m join notes n on n.id = m.note_id where m.issue_id = $1`;
  t.deepEqual(await rows(mentions, [moved.id]), [{ user_id: named.id, body: `@${named.username}` }]);
  const subscribed = await Promise.all(
    [speaker, named, leaver].map(async ({ token }) => (await read(moved, token)).body.subscribed),
  );
  t.deepEqual(subscribed, [true, true, true]);
  const [project] = await rows('select distinct project_id from notes where noteable_id = $1', [moved.id]);
  t.deepEqual(project, { project_id: to.id });
});

test('what texts name is named with its project, if there is such a thing', async (t) => {
  const { make, services } = holder.app;
  const [from, to] = await twoProjects();
  const { owner } = from;
  await make.issue(from);
  await make.mergeRequest(from);
  await make.label(from, 'bug');
  await milestone(from, 'v1', 3);
  const snippet = await make.snippet(from);
  const sha = await looseCommit(holder.app, from);
  await git(repositoryDir(services.repositoriesDir, from.id), 'update-ref', 'refs/heads/master', sha);
  const description = [
    `See #1, #99999999999, !1, $${snippet}, %3, %"v1", ~bug and ~nothing; ${sha} and ${sha.slice(0, 8)}`,
    `not ${'1234567'.repeat(2)}, other/project#1, @${owner.username}`,
    '`#1` ![file](/uploads/0123456789abcdef0123456789abcdef/a.png)',
  ].join('\n');
  const { body: issue } = await add(from, owner.token, { description });
  await say(issue, owner, { body: 'mentioned in issue #1', system: true });
  await say(issue, owner, { body: 'As in #1 and #77' });
  const { body: moved } = await move(issue, owner.token, to.id);
  const path = from.fullPath;
  t.is(
    moved.description,
    [
      `See ${path}#1, #99999999999, ${path}!1, ${path}$${snippet}, ${path}%3, ${path}%"v1", ${path}~bug and ~nothing; ` +
        `${path}@${sha} and ${path}@${sha.slice(0, 8)}`,
      `not ${'1234567'.repeat(2)}, other/project#1, @${owner.username}`,
      '`#1` ![file](/uploads/0123456789abcdef0123456789abcdef/a.png)',
    ].join('\n'),
  );
  t.deepEqual((await notesOn(moved)).slice(0, 2), [
    `mentioned in issue ${path}#1`,
    `As in ${path}#1 and #77`,
  ]);
  t.is((await read(issue, owner.token)).body.description, description);
});

test('who may not move it there, and what cannot be moved', async (t) => {
  const { make } = holder.app;
  const [from, to] = await twoProjects();
  const { token } = from.owner;
  const { body: issue } = await add(from, token);
  const refusal = async (as: string, target: unknown) => {
    const answer = await move(issue, as, target);
    return [answer.status, messageOf(answer)];
  };
  t.deepEqual(await refusal(token, ''), [400, '400 (Bad request) "to_project_id" not given']);
  t.deepEqual(await refusal(token, 'x'), [400, { to_project_id: ['is not a number'] }]);
  t.deepEqual(await refusal(token, 0), [404, '404 Not found']);
  const hidden = await make.project();
  t.deepEqual(await refusal(token, hidden.id), [404, '404 Not found']);
  const leaving = await make.project({ owner: from.owner, columns: { pending_delete: true } });
  t.deepEqual(await refusal(token, leaving.id), [404, '404 Not found']);
  const open = await make.project({ visibility: 'public' });
  t.deepEqual(await refusal(token, open.id), [400, insufficient]);
  const off = await make.project({ owner: from.owner, columns: { issues_enabled: false } });
  t.deepEqual(await refusal(token, off.id), [400, insufficient]);
  const guest = await make.member(from, 'guest');
  await make.row('project_members', { project_id: to.id, user_id: guest.id, access_level: 40 });
  t.deepEqual(await refusal(guest.token, to.id), [400, insufficient]);
  t.deepEqual(await refusal(guest.token, from.id), [400, insufficient], 'rights come first');
  t.deepEqual(await refusal(token, from.id), [400, 'Cannot move issue to project it originates from!']);
  t.is((await move(issue, token, to.id)).status, 201);
  t.deepEqual(await refusal(token, to.id), [400, insufficient], 'it was moved before');
  const gone = await move({ ...issue, id: 0 }, token, to.id);
  t.deepEqual([gone.status, messageOf(gone)], [404, '404 Not found']);
  t.is(await openIssuesOf(off), 0);
});

test('hooks of both projects hear of a move', async (t) => {
  const { make, rows } = holder.app;
  const [from, to] = await twoProjects();
  for (const { id } of [from, to]) {
    await make.row('hooks', { project_id: id, url: 'http://127.0.0.1:1', issues_events: true });
  }
  const issue = await make.issue(from);
  const moved = await move({ ...issue, project_id: from.id }, from.owner.token, to.id);
  const told = await rows<{ subject: { action: string; row: { id: number; state: string } } }>(
    `select d.subject::json as subject from hook_deliveries d join hooks h on h.id = d.hook_id
     where h.project_id = any($1) order by h.project_id`,
    [[from.id, to.id]],
  );
  t.deepEqual(
    told.map(({ subject: { action, row } }) => [action, row.id, row.state]),
    [
      ['close', issue.id, 'closed'],
      ['open', moved.body.id, 'opened'],
    ],
  );
});
