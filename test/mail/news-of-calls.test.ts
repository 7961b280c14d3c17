import test from 'ava';
import type { CallOptions } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { withMailScene } from '../support/mail-scene.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { mergingOn } from '../support/merge-scene.ts';
import { everythingOn, makeParent } from '../support/notes.ts';
import { textOf } from '../support/with-mail.ts';

const { holder, post, lastMail, member, subscribe } = withMailScene({ poolSize: 4 });
const { scene, commit, push } = mergingOn(holder);

interface Made {
  id: number;
  iid: number;
}

/** Has the owner of a project call, and all that follows be done. */
async function call(
  project: MadeProject,
  path: string,
  { method = 'PUT', ...options }: CallOptions & { method?: string },
): Promise<Made> {
  post.server.received.length = 0;
  const url = `/api/v3/projects/${project.id}/${path}`;
  const { status, body } = await holder.app.call<Made>(method, url, { as: project.owner.token, ...options });
  if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
  await holder.app.runTasks();
  return body;
}

/** What the mail about the last call says first. */
function saidTo(user: MadeUser): string | undefined {
  return textOf(lastMail(user)).split('\n')[0];
}

test.serial('each call that changes a merge request reaches those who watch by mail', async (t) => {
  const { app } = holder;
  const { project, master, id: old } = await scene();
  await push(project, 'other', await commit(project, [master], { 'o.txt': 'o\n' }));
  const [watcher, assignee] = [await member(project, 'watch'), await member(project)];
  const who = `Name of ${project.owner.username}`;
  const branches = { source_branch: 'other', target_branch: 'master' };
  const { id, iid } = await call(project, 'merge_requests', {
    method: 'POST',
    json: { ...branches, title: 'Mend it' },
  });
  t.not(id, old);
  t.is(saidTo(watcher), `${who} opened merge request !${iid}: Mend it`);
  const path = `merge_requests/${id}`;
  for (const [event, word] of [
    ['close', 'closed'],
    ['reopen', 'reopened'],
  ] as const) {
    await call(project, path, { json: { state_event: event } });
    t.is(saidTo(watcher), `${who} ${word} merge request !${iid}.`);
  }
  await call(project, path, { json: { assignee_id: assignee.id } });
  t.is(saidTo(assignee), `${who} assigned merge request !${iid} to Name of ${assignee.username}.`);
  await subscribe(watcher, { label_id: await app.make.label(project, 'urgent') });
  await call(project, path, { json: { labels: 'urgent' } });
  t.is(saidTo(watcher), `${who} labelled merge request !${iid} with "urgent".`);
  await call(project, `${path}/merge`, {});
  t.is(saidTo(watcher), `${who} merged merge request !${iid}.`);
  t.is(saidTo(assignee), `${who} merged merge request !${iid}.`);
});

test.serial('a push that merges it reaches those who watch by mail', async (t) => {
  const { project, master, side, iid } = await scene();
  const watcher = await member(project, 'watch');
  await push(project, 'master', await commit(project, [master, side], {}));
  await holder.app.runTasks();
  t.is(saidTo(watcher), `Name of ${project.owner.username} merged merge request !${iid}.`);
});

test.serial('each call that comments on something reaches those who watch by mail', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: everythingOn });
  const watcher = await member(project, 'watch');
  const issue = await makeParent(app, project, 'issues');
  const request = await makeParent(app, project, 'merge_requests');
  const snippet = await makeParent(app, project, 'snippets');
  const sha = await looseCommit(app, project);
  const places = [
    [`issues/${issue}/notes`, { body: 'on an issue' }],
    [`merge_requests/${request}/notes`, { body: 'on a merge request' }],
    [`merge_requests/${request}/comments`, { note: 'on one as older clients do' }],
    [`snippets/${snippet}/notes`, { body: 'on a snippet' }],
    [`repository/commits/${sha}/comments`, { note: 'on a commit' }],
  ] as const;
  for (const [path, json] of places) {
    await call(project, path, { method: 'POST', json });
    const [text] = Object.values(json);
    const begin = `Name of ${project.owner.username} commented:\n\n${text}\n\n`;
    t.true(textOf(lastMail(watcher)).startsWith(begin), path);
  }
});

test.serial('nobody gets mail of a vote', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await member(project, 'watch');
  const issue = await makeParent(app, project, 'issues');
  await call(project, `issues/${issue}/notes`, { method: 'POST', json: { body: ':+1:' } });
  t.deepEqual(post.server.received, []);
});
