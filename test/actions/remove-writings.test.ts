import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { everythingOn, makeParent, NotesOf, parents } from '../support/notes.ts';

const holder = withApp({ poolSize: 8 });

function removeUser({ id }: { id: number }) {
  return holder.app.call('DELETE', `/api/v3/users/${id}`, { as: rootToken });
}

async function count(text: string, values: unknown[]): Promise<number> {
  const [row] = await holder.app.rows<{ count: number }>(
    `select count(*)::int as count from ${text}`,
    values,
  );
  return row?.count ?? -1;
}

interface Scene {
  project: MadeProject;
  leaver: MadeUser;
  other: MadeUser;
}

async function scene(): Promise<Scene> {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public', columns: everythingOn });
  return { project, leaver: await make.member(project, 'developer'), other: await make.user() };
}

/** Open issues as the project counts them, and as they are. */
async function openIssues({ id }: { id: number }): Promise<unknown> {
  const [row] = await holder.app.rows(
    `select open_issues_count = (select count(*) from issues where project_id = $1 and state = 'opened'
       and deleted_at is null) as is_right from projects where id = $1`,
    [id],
  );
  return row;
}

test('what a user wrote goes with him, and all that hangs on it', async (t) => {
  const { app } = holder;
  const { project, leaver, other } = await scene();
  const kept = await app.make.issue(project, { author: other });
  for (const kind of parents) {
    const id = await makeParent(app, project, kind, leaver);
    const notes = new NotesOf(app, project, { kind, id });
    await notes.post(`See #${kept.iid} @${other.username}`, other);
    const named = kind === 'issues' ? 'issue_id' : 'merge_request_id';
    if (kind === 'snippets') continue;
    await app.rows(`insert into subscriptions (user_id, ${named}, subscribed) values ($1, $2, true)`, [
      other.id,
      id,
    ]);
    const type = kind === 'issues' ? 'Issue' : 'MergeRequest';
    await app.rows(
      `insert into events (project_id, author_id, action, target_type, target_id) values ($1, $2, 'opened', $3, $4)`,
      [project.id, leaver.id, type, id],
    );
  }
  const list = () => new NotesOf(app, project, { kind: 'issues', id: kept.id }).list();
  t.is((await list()).body.length, 3);
  t.is((await removeUser(leaver)).status, 200);
  t.is(await count('issues where project_id = $1', [project.id]), 1);
  for (const table of ['merge_requests', 'snippets', 'notes', 'events']) {
    t.is(await count(`${table} where project_id = $1`, [project.id]), 0, table);
  }
  t.is(await count('mentions where user_id = $1', [other.id]), 0);
  t.is(await count('subscriptions where user_id = $1', [other.id]), 0);
  t.deepEqual((await list()).body, []);
  t.deepEqual(await openIssues(project), { is_right: true });
});

test('what he said of others goes, and their numbers follow', async (t) => {
  const { app } = holder;
  const { project, leaver, other } = await scene();
  const issueId = await makeParent(app, project, 'issues', other);
  const requestId = await makeParent(app, project, 'merge_requests', other);
  await app.rows('update issues set assignee_id = $2 where id = $1', [issueId, leaver.id]);
  await app.rows('update merge_requests set assignee_id = $2 where id = $1', [requestId, leaver.id]);
  const issue = new NotesOf(app, project, { kind: 'issues', id: issueId });
  const request = new NotesOf(app, project, { kind: 'merge_requests', id: requestId });
  for (const notes of [issue, request]) {
    for (const as of [leaver, other]) {
      for (const text of ['one', `@${leaver.username}`, ':+1:', ':-1:', ':heart:'])
        await notes.post(text, as);
    }
  }
  await removeUser(leaver);
  for (const notes of [issue, request]) t.is((await notes.list(other)).body.length, 5);
  const columns = 'user_notes_count, assignee_id';
  t.deepEqual(await app.rows(`select ${columns} from issues where id = $1`, [issueId]), [
    { user_notes_count: 5, assignee_id: null },
  ]);
  t.deepEqual(
    await app.rows(`select ${columns}, upvotes, downvotes from merge_requests where id = $1`, [requestId]),
    [{ user_notes_count: 5, assignee_id: null, upvotes: 1, downvotes: 1 }],
  );
  t.is(await count('events where project_id = $1', [project.id]), 4);
});

test('people who talk with each other while some of them are removed', async (t) => {
  const { app } = holder;
  const { project } = await scene();
  const people = await Promise.all(Array.from({ length: 6 }, () => app.make.member(project, 'developer')));
  const ids = await Promise.all(people.map((author) => makeParent(app, project, 'issues', author)));
  const stays = await makeParent(app, project, 'issues');
  const names = people.map(({ username }) => `@${username}`).join(' ');
  const talks = people.flatMap((person, index) =>
    [...ids, stays].map((id) =>
      new NotesOf(app, project, { kind: 'issues', id }).post(`${names} #${index + 1}`, person),
    ),
  );
  const removed = people.slice(0, 3).map(removeUser);
  const statuses = new Set((await Promise.all([...talks, ...removed])).map(({ status }) => status));
  for (const person of people.slice(0, 3)) await removeUser(person);
  // Those who were removed, what was removed; and whoever would have waited for ever.
  const allowed = [200, 201, 401, 404, 503];
  t.deepEqual(
    [...statuses].filter((status) => !allowed.includes(status)),
    [],
  );
  const wrong = await app.rows(
    `select id from issues i where project_id = $1 and user_notes_count <> (select count(*) from notes n
       where n.noteable_type = 'Issue' and n.noteable_id = i.id and not n.system)`,
    [project.id],
  );
  t.deepEqual(wrong, []);
  t.is(await count('issues where project_id = $1', [project.id]), 4);
  t.deepEqual(await openIssues(project), { is_right: true });
});

test('a removed project goes with all that people wrote in it, and with what others say of it', async (t) => {
  const { app } = holder;
  const { make } = app;
  const project = await make.project({ visibility: 'public', columns: everythingOn });
  const { owner } = project;
  const other = await make.project({ owner, columns: everythingOn });
  const [issue, fork] = [
    await make.issue(other),
    await make.mergeRequest(other, { columns: { source_project_id: project.id } }),
  ];
  for (let count = 0; count < 3; count += 1) {
    for (const kind of parents) {
      const id = await makeParent(app, project, kind);
      await new NotesOf(app, project, { kind, id }).post(`${other.fullPath}#${issue.iid} @${owner.username}`);
    }
    const label = await make.label(project);
    await app.rows('insert into issue_labels select max(id), $1 from issues where project_id = $2', [
      label,
      project.id,
    ]);
    await make.row('milestones', { project_id: project.id, iid: count + 1, title: `m${count}` });
  }
  const outside = new NotesOf(app, other, { kind: 'issues', id: issue.id });
  t.is((await outside.list()).body.length, 9);
  await app.call('DELETE', `/api/v3/projects/${project.id}`, { as: rootToken });
  t.deepEqual((await outside.list()).body, []);
  await app.runAllTasks();
  for (const table of ['issues', 'merge_requests', 'snippets', 'labels', 'milestones', 'notes', 'events']) {
    t.is(await count(`${table} where project_id = $1`, [project.id]), 0, table);
  }
  t.is(await count('projects where id = $1', [project.id]), 0);
  t.is(await count('notes where reference_project_id = $1', [project.id]), 0);
  t.is(await count('mentions where user_id = $1', [owner.id]), 0);
  const [request] = await app.rows('select source_project_id from merge_requests where id = $1', [fork.id]);
  t.deepEqual(request, { source_project_id: null });
});
