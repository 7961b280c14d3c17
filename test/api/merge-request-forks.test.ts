import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git, tryGit } from '../git/real-git.ts';
import { rootToken, withApp } from '../support/app.ts';
import { ask, branchedProject, forkWithCommit, type ShownMergeRequest } from '../support/merge-requests.ts';

const holder = withApp();

const mine = { source_branch: 'mine', target_branch: 'master' };

async function scene(given: Parameters<typeof branchedProject>[1] = { visibility: 'public' }) {
  const { app } = holder;
  const upstream = await branchedProject(app, given);
  const forker = await app.make.user();
  if (given.visibility === undefined) {
    await app.rows('insert into project_members (project_id, user_id, access_level) values ($1, $2, 20)', [
      upstream.project.id,
      forker.id,
    ]);
  }
  const fork = await forkWithCommit(app, upstream.project, forker);
  return { upstream, forker, fork };
}

test('from a fork into its source, whose repository then has the commits', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene();
  const { project, dir, master } = upstream;
  const made = await ask(app, fork, forker, { ...mine, target_project_id: project.id, labels: 'new' });
  t.is(made.status, 200, JSON.stringify(made.body));
  t.like(made.body, {
    project_id: project.id,
    target_project_id: project.id,
    source_project_id: fork.id,
    iid: 1,
    labels: ['new'],
  });
  t.is(await git(dir, 'rev-parse', 'refs/merge-requests/1/head'), fork.sha);
  t.is((await tryGit(dir, 'rev-parse', '--verify', 'refs/heads/mine')).code, 128);
  const [row] = await app.rows('select head_sha, base_sha from merge_requests where id = $1', [made.body.id]);
  t.deepEqual(row, { head_sha: fork.sha, base_sha: master });
  // Also without the fork.
  await app.call('DELETE', `/api/v3/projects/${fork.id}`, { as: rootToken });
  await app.runAllTasks();
  const path = `/api/v3/projects/${project.id}/merge_requests/${made.body.id}`;
  const read = await app.call<ShownMergeRequest>('GET', path, { as: project.owner.token });
  t.like(read.body, { source_project_id: null, state: 'closed' });
  const notes = await app.rows('select body from notes where noteable_id = $1 and system order by id', [
    made.body.id,
  ]);
  t.deepEqual(notes, [{ body: 'Deleted source branch `mine`' }, { body: 'Status changed to closed' }]);
  const changes = await app.call<{ changes: { new_path: string }[] }>('GET', `${path}/changes`, {
    as: project.owner.token,
  });
  t.deepEqual(
    changes.body.changes.map((change) => change.new_path),
    ['f'],
  );
  const reopened = await app.call('PUT', path, {
    as: project.owner.token,
    json: { target_branch: 'side' },
  });
  t.is(reopened.status, 400);
  t.deepEqual(reopened.body, { message: { source_branch: ['does not exist'] } });
});

test('without a target it stays in the fork; the same names in two projects are two branches', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene();
  const inside = await ask(app, fork, forker, mine);
  t.is(inside.status, 200);
  t.is(inside.body.project_id, fork.id);
  await git(fork.dir, 'update-ref', 'refs/heads/master', fork.sha);
  const over = { source_branch: 'master', target_branch: 'master', target_project_id: upstream.project.id };
  t.is((await ask(app, fork, forker, over)).status, 200);
  t.is((await ask(app, fork, forker, over)).status, 409);
});

test('not from the source into its fork, and not into a copy of a copy', async (t) => {
  const { app } = holder;
  const { upstream, fork } = await scene();
  const down = await ask(app, upstream.project, upstream.project.owner, { target_project_id: fork.id });
  t.is(down.status, 422);
  const second = await app.make.user();
  await app.rows('update projects set visibility_level = 20 where id = $1', [fork.id]);
  const copy = await app.call<{ id: number }>('POST', `/api/v3/projects/fork/${fork.id}`, {
    as: second.token,
  });
  const past = await ask(app, copy.body, second, { ...mine, target_project_id: upstream.project.id });
  t.is(past.status, 422);
  t.is((await ask(app, copy.body, second, { ...mine, target_project_id: fork.id })).status, 200);
});

test('a source that the caller can no longer see is as if there were none', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene();
  await app.rows('update projects set visibility_level = 0 where id = $1', [upstream.project.id]);
  const hidden = await ask(app, fork, forker, { ...mine, target_project_id: upstream.project.id });
  const absent = await ask(app, fork, forker, { ...mine, target_project_id: 99_999_999 });
  t.is(hidden.status, 422);
  t.deepEqual(hidden.body, absent.body);
});

test('a source that takes none is told as such', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene();
  for (const change of ['archived = true', 'archived = false, merge_requests_enabled = false']) {
    await app.rows(`update projects set ${change} where id = $1`, [upstream.project.id]);
    const refused = await ask(app, fork, forker, { ...mine, target_project_id: upstream.project.id });
    t.is(refused.status, 403);
  }
});

test('the right has to be one on the fork; what the source gives it counts for the rest', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene();
  const { project } = upstream;
  const [milestone] = await app.rows<{ id: number }>(
    `insert into milestones (project_id, iid, title) values ($1, 1, 'Soon') returning id`,
    [project.id],
  );
  const to = { ...mine, target_project_id: project.id };
  const wishes = { ...to, assignee_id: forker.id, milestone_id: milestone?.id, labels: 'mine' };
  t.is((await ask(app, fork, project.owner, to)).status, 403);
  const made = await ask(app, fork, forker, wishes);
  t.is(made.status, 200);
  t.like(made.body, { assignee: null, milestone: null, labels: ['mine'] });
  const path = `/api/v3/projects/${project.id}/merge_requests/${made.body.id}`;
  const closed = await app.call<ShownMergeRequest>('PUT', path, {
    as: forker.token,
    json: { state_event: 'close', title: 'No more', assignee_id: forker.id, labels: 'other' },
  });
  t.is(closed.status, 200);
  t.like(closed.body, { state: 'closed', title: 'No more', assignee: null, labels: ['mine'] });
});

test('a private source whose reporter has forked it', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene({});
  const made = await ask(app, fork, forker, { ...mine, target_project_id: upstream.project.id });
  t.is(made.status, 200, JSON.stringify(made.body));
  t.is(await git(upstream.dir, 'rev-parse', 'refs/merge-requests/1/head'), fork.sha);
});

test('opened again, it is about what the fork has by then', async (t) => {
  const { app } = holder;
  const { upstream, forker, fork } = await scene();
  const { project } = upstream;
  const made = await ask(app, fork, forker, { ...mine, target_project_id: project.id });
  const path = `/api/v3/projects/${project.id}/merge_requests/${made.body.id}`;
  const put = (json: Record<string, unknown>) =>
    app.call<ShownMergeRequest>('PUT', path, { as: forker.token, json });
  await put({ state_event: 'close' });
  const json = { file_path: 'g', branch_name: 'mine', content: 'more', commit_message: 'More' };
  await app.call('POST', `/api/v3/projects/${fork.id}/repository/files`, { as: forker.token, json });
  const now = await git(fork.dir, 'rev-parse', 'mine');
  t.is(await git(upstream.dir, 'rev-parse', 'refs/merge-requests/1/head'), fork.sha);
  t.is((await put({ state_event: 'reopen' })).body.state, 'reopened');
  t.is(await git(upstream.dir, 'rev-parse', 'refs/merge-requests/1/head'), now);
  await git(repositoryDir(app.services.repositoriesDir, project.id), 'fsck', '--connectivity-only');
});
