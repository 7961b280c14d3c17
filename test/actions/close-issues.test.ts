import test from 'ava';
import { queueClosing } from '../../server/actions/queue-closing.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject, MadeThing } from '../support/make.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, empty, filled } = withPushes();

async function stateOf({ id }: MadeThing): Promise<string | undefined> {
  const [row] = await holder.app.rows<{ state: string }>('select state from issues where id = $1', [id]);
  return row?.state;
}

/** What the system noted of an issue or merge request, in its order. */
async function notesOf({ id }: MadeThing, type = 'Issue'): Promise<string[]> {
  const rows = await holder.app.rows<{ body: string }>(
    'select body from notes where noteable_id = $1 and noteable_type = $2 and system order by id',
    [id, type],
  );
  return rows.map(({ body }) => body);
}

async function reopen({ id }: MadeThing): Promise<void> {
  await holder.app.rows(`update issues set state = 'opened' where id = $1`, [id]);
}

test('commits that reach the default branch close what they say, and tell where they name something', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const other = await app.make.project({ owner: project.owner });
  const [fixed, listed, named] = [
    await app.make.issue(project),
    await app.make.issue(project),
    await app.make.issue(project),
  ];
  const elsewhere = await app.make.issue(other);
  const message = `Mend\n\nFixes: #${fixed.iid}, #${listed.iid} and ${other.fullPath}#${elsewhere.iid}. See #${named.iid}`;
  const sha = await tree.commit({ a: '1' }, message);
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  for (const issue of [fixed, listed]) {
    t.is(await stateOf(issue), 'closed');
    t.deepEqual(await notesOf(issue), [
      `mentioned in commit ${sha}`,
      `Status changed to closed by commit ${sha}`,
    ]);
  }
  t.is(await stateOf(named), 'opened');
  t.deepEqual(await notesOf(named), [`mentioned in commit ${sha}`]);
  const path = `${project.fullPath}@${sha}`;
  t.is(await stateOf(elsewhere), 'closed');
  t.deepEqual(await notesOf(elsewhere), [
    `mentioned in commit ${path}`,
    `Status changed to closed by commit ${path}`,
  ]);
  const events = await app.rows(
    `select author_id, target_type, target_id from events where project_id = $1 and action = 'closed' order by target_id`,
    [project.id],
  );
  const by = { author_id: project.owner.id, target_type: 'Issue' };
  t.deepEqual(events, [
    { ...by, target_id: fixed.id },
    { ...by, target_id: listed.id },
  ]);
});

test('commits of other branches close nothing until they come to the default one, and are named once', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const issue = await app.make.issue(project);
  await tree.git('checkout', '--quiet', '-b', 'side');
  const sha = await tree.commit({ a: '1' }, `Closes #${issue.iid}`);
  await tree.git('push', '--quiet', url, 'side', 'side:refs/heads/again');
  await app.runTasks();
  t.is(await stateOf(issue), 'opened');
  t.deepEqual(await notesOf(issue), [`mentioned in commit ${sha}`]);
  await tree.git('push', '--quiet', url, 'side:master');
  await app.runTasks();
  t.is(await stateOf(issue), 'closed');
  t.deepEqual(await notesOf(issue), [
    `mentioned in commit ${sha}`,
    `Status changed to closed by commit ${sha}`,
  ]);
});

test('the oldest commit that closes an issue is the one that did, and of two branches the default one', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const issue = await app.make.issue(project);
  const first = await tree.commit({ a: '1' }, `Closes #${issue.iid}`);
  for (let count = 0; count < 25; count += 1) await tree.commit({ a: `${count}` }, 'No more');
  await tree.commit({ a: '2' }, `Closes #${issue.iid}`);
  await tree.git('push', '--quiet', url, 'master:refs/heads/aside', 'master');
  await app.runTasks();
  t.deepEqual(
    (await notesOf(issue)).filter((body) => body.startsWith('Status')),
    [`Status changed to closed by commit ${first}`],
  );
});

test('the first push of a project is read from its beginning', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await empty();
  const issue = await app.make.issue(project);
  await tree.commit({ a: '1' }, `Closes #${issue.iid}`);
  await tree.commit({ a: '2' });
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  t.is(await stateOf(issue), 'closed');
});

test('a commit closes what whoever pushed it may change, and is told of where he may read', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const open = await app.make.project({ visibility: 'public' });
  const [others, own, assigned] = [
    await app.make.issue(open),
    await app.make.issue(open, { author: project.owner }),
    await app.make.issue(open, { columns: { assignee_id: project.owner.id } }),
  ];
  const hidden = await app.make.project();
  const unseen = await app.make.issue(hidden, { author: project.owner });
  const [gone, off] = [
    await app.make.issue(project, { columns: { deleted_at: new Date() } }),
    await app.make.project({ owner: project.owner, columns: { issues_enabled: false } }),
  ];
  const without = await app.make.issue(off);
  const names = [others, own, assigned].map(({ iid }) => `${open.fullPath}#${iid}`);
  const all = [
    ...names,
    `${hidden.fullPath}#${unseen.iid}`,
    `#${gone.iid}`,
    `${off.fullPath}#${without.iid}`,
  ];
  await tree.commit({ a: '1' }, `Closes ${all.join(', ')}`);
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  t.deepEqual(await Promise.all([others, own, assigned].map(stateOf)), ['opened', 'closed', 'closed']);
  t.is((await notesOf(others)).length, 1);
  for (const issue of [unseen, gone, without]) {
    t.is(await stateOf(issue), 'opened');
    t.deepEqual(await notesOf(issue), []);
  }
});

test('what was opened again stays so when the task is repeated, until another commit closes it', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const issue = await app.make.issue(project);
  const sha = await tree.commit({ a: '1' }, `Closes #${issue.iid}`);
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  await reopen(issue);
  const notes = await notesOf(issue);
  const [push] = await app.rows<{ push_id: number }>(
    `select push_id from events where project_id = $1 and data->>'after' = $2`,
    [project.id, sha],
  );
  await queueClosing(app.work, { pushId: push?.push_id ?? 0, merged: [] });
  await app.runTasks();
  t.is(await stateOf(issue), 'opened');
  t.deepEqual(await notesOf(issue), notes);
  await tree.git('push', '--quiet', '--force', url, 'HEAD~1:refs/heads/other', 'HEAD:refs/heads/third');
  await tree.commit({ a: '2' }, `Closes #${issue.iid}`);
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  t.is(await stateOf(issue), 'closed');
});

test.serial('commits that name nothing, tags, and branches that go, queue no task', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const issue = await app.make.issue(project);
  const queued = () =>
    app.rows(
      `select 1 from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
       where t.identifier = 'close_issues' and (j.payload->>'pushId')::int in (
         select push_id from events where project_id = $1)`,
      [project.id],
    );
  await tree.commit({ a: '1' }, 'Nothing to see');
  await tree.git('push', '--quiet', url, 'master');
  await tree.commit({ a: '2' }, `Closes #${issue.iid}`);
  await tree.git('tag', 'v1');
  await tree.git('push', '--quiet', url, 'v1', 'HEAD~1:refs/heads/side');
  await tree.git('push', '--quiet', url, ':refs/heads/side');
  t.deepEqual(await queued(), []);
  await tree.git('push', '--quiet', url, 'master');
  t.is((await queued()).length, 1);
});

/** A merge request that was merged, of one commit. */
async function merged(
  project: MadeProject,
  given: { description?: string; message?: string; columns?: Record<string, unknown> },
): Promise<MadeThing & { run(): Promise<void> }> {
  const { app } = holder;
  const base = await looseCommit(app, project);
  const sha = given.message === undefined ? base : await looseCommit(app, project, base);
  const columns = { state: 'merged', head_sha: sha, base_sha: base, description: given.description ?? null };
  const request = await app.make.mergeRequest(project, { columns: { ...columns, ...given.columns } });
  const run = async () => {
    await queueClosing(app.work, {
      pushId: 0,
      merged: [{ mergeRequestId: request.id, userId: project.owner.id }],
    });
    await app.runTasks();
  };
  return { ...request, run };
}

test('a merged request closes what its description and its commits say, in its own name', async (t) => {
  const { app } = holder;
  const { project, tree, url, sha: base } = await filled();
  const other = await app.make.project({ owner: project.owner });
  const [described, committed, elsewhere] = [
    await app.make.issue(project),
    await app.make.issue(project),
    await app.make.issue(other),
  ];
  await tree.git('checkout', '--quiet', '-b', 'side');
  const sha = await tree.commit({ a: '1' }, `Resolves #${committed.iid}`);
  await tree.git('push', '--quiet', url, 'side');
  const address = `${app.url}/${other.fullPath}/issues/${elsewhere.iid}`;
  const description = `Closes #${described.iid} and ${address}`;
  const columns = { state: 'merged', head_sha: sha, base_sha: base, description };
  const request = await app.make.mergeRequest(project, { columns });
  await queueClosing(app.work, {
    pushId: 0,
    merged: [{ mergeRequestId: request.id, userId: project.owner.id }],
  });
  // The push that it led to.
  await tree.git('push', '--quiet', url, 'side:master');
  await app.runTasks();
  const last = async (issue: MadeThing) => (await notesOf(issue)).find((body) => body.startsWith('Status'));
  const local = `Status changed to closed by merge request !${request.iid}`;
  t.deepEqual([await last(described), await last(committed)], [local, local]);
  t.is(await last(elsewhere), `Status changed to closed by merge request ${project.fullPath}!${request.iid}`);
});

test('to merge a request closes what it says, by hand too', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  const as = project.owner.token;
  const [merge, byHand] = [await app.make.issue(project), await app.make.issue(project)];
  const ask = async (branch: string, issue: MadeThing) => {
    await tree.git('checkout', '--quiet', '-b', branch, 'master');
    await tree.commit({ [branch]: '1' }, `Closes #${issue.iid}`);
    await tree.git('push', '--quiet', url, branch);
    const json = { source_branch: branch, target_branch: 'master', title: branch };
    const path = `/api/v3/projects/${project.id}/merge_requests`;
    const made = await app.call<MadeThing>('POST', path, { as, json });
    return { ...made.body, path: `${path}/${made.body.id}` };
  };
  const requests = [await ask('one', merge), await ask('two', byHand)] as const;
  const put = await app.call('PUT', `${requests[0].path}/merge`, { as });
  t.is(put.status, 200);
  await app.runTasks();
  t.is(await stateOf(byHand), 'opened');
  await tree.git('pull', '--quiet', '--no-rebase', '--no-edit', url, 'master');
  await tree.git('push', '--quiet', url, 'two:master');
  await app.runTasks();
  const last = async (issue: MadeThing) => (await notesOf(issue)).filter((body) => body.startsWith('Status'));
  t.deepEqual(await last(merge), [`Status changed to closed by merge request !${requests[0].iid}`]);
  t.deepEqual(await last(byHand), [`Status changed to closed by merge request !${requests[1].iid}`]);
});

test('one that went elsewhere, or was not merged, closes nothing; one that is told twice closes once', async (t) => {
  const { app } = holder;
  const { project } = await filled();
  const issue = await app.make.issue(project);
  const description = `Closes #${issue.iid}`;
  await (await merged(project, { description, columns: { target_branch: 'stable' } })).run();
  await (await merged(project, { description, columns: { state: 'closed' } })).run();
  await (await merged(project, { description, columns: { deleted_at: new Date() } })).run();
  t.is(await stateOf(issue), 'opened');
  const request = await merged(project, { description });
  await request.run();
  t.is(await stateOf(issue), 'closed');
  await reopen(issue);
  await request.run();
  t.is(await stateOf(issue), 'opened');
});

test('where the commits cannot be read, the description counts', async (t) => {
  const { app } = holder;
  const { project } = await filled();
  const issue = await app.make.issue(project);
  const columns = { head_sha: '1'.repeat(40), base_sha: null };
  await (await merged(project, { description: `Closes #${issue.iid}`, columns })).run();
  t.is(await stateOf(issue), 'closed');
});

test('a merge request is not told of its own commits, nor of the one that merges it', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  await tree.git('checkout', '--quiet', '-b', 'side');
  await tree.commit({ a: '1' }, 'Begin');
  await tree.git('push', '--quiet', url, 'side');
  const call = <T>(method: string, path: string, json: unknown) =>
    app.call<T>(method, `/api/v3/projects/${project.id}/${path}`, { as: project.owner.token, json });
  const asked = { source_branch: 'side', target_branch: 'master', title: 'Side' };
  const { body: request } = await call<MadeThing>('POST', 'merge_requests', asked);
  const issue = await app.make.issue(project);
  const own = await tree.commit({ a: '2' }, `For !${request.iid} and #${issue.iid}`);
  await tree.git('push', '--quiet', url, 'side');
  await app.runTasks();
  t.deepEqual(await notesOf(issue), [`mentioned in commit ${own}`]);
  t.is((await call('PUT', `merge_requests/${request.id}/merge`, {})).status, 200);
  await app.runTasks();
  const notes = await notesOf(request, 'MergeRequest');
  t.regex(notes[0] ?? '', /^Added 1 commit/);
  t.deepEqual(notes.slice(1), ['Status changed to merged']);
  await tree.git('checkout', '--quiet', '-B', 'later', 'master');
  const later = await tree.commit({ b: '1' }, `After !${request.iid}`);
  await tree.git('push', '--quiet', url, 'later');
  await app.runTasks();
  t.deepEqual((await notesOf(request, 'MergeRequest')).slice(2), [`mentioned in commit ${later}`]);
});
