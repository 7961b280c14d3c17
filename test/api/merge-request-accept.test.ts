import test from 'ava';
import { withMerging } from '../support/merge-scene.ts';

const merging = withMerging();
const { holder, git, commit, push, request, scene, stateOf, notesOf, eventsOf, call, outstanding } = merging;

/** Keeps developers off master. */
async function protect({ id }: { id: number }): Promise<void> {
  const text = `update protected_branches set developers_can_push = false where project_id = $1 and name = 'master'`;
  await holder.app.rows(text, [id]);
}

interface Json {
  id: number;
  iid: number;
  state: string;
  merge_status: string;
  message: string;
}

test('a merge makes a commit of both branches, by whoever merges, and the request is merged', async (t) => {
  const at = await scene();
  const { owner } = at.project;
  const answer = await call<Json>(at, '/merge');
  t.is(answer.status, 200);
  t.like(answer.body, { id: at.id, state: 'merged', merge_status: 'can_be_merged' });
  const merge = await git(at.project, 'rev-parse', 'master');
  t.is(await git(at.project, 'log', '-1', '--format=%P', merge), `${at.master} ${at.side}`);
  const who = `Name of ${owner.username} <${owner.username}@example.com>`;
  t.is(await git(at.project, 'log', '-1', '--format=%an <%ae>|%cn <%ce>', merge), `${who}|${who}`);
  t.is(
    await git(at.project, 'log', '-1', '--format=%B', merge),
    "Merge branch 'side' into 'master'\n\nDo something\n\nWith more words\n\nSee merge request !1",
  );
  t.is(await git(at.project, 'ls-tree', '--name-only', merge), 'README\nm.txt\ns.txt');
  t.like(await stateOf(at.id), { state: 'merged', merge_commit_sha: merge, merge_user_id: owner.id });
  t.deepEqual(await notesOf(at.id), [`${owner.username}: Status changed to merged`]);
  t.deepEqual(await eventsOf(at.id), ['accepted']);
  t.is(await git(at.project, 'rev-parse', 'side'), at.side, 'the source branch stays');
  t.is(await outstanding(at.project), 0);
  const pushes = await holder.app.rows(
    `select data->>'after' as after from events where project_id = $1 and ref = 'refs/heads/master' order by id desc limit 1`,
    [at.project.id],
  );
  t.deepEqual(pushes, [{ after: merge }]);
});

test('a branch that could be moved forward is merged by a commit all the same', async (t) => {
  const at = await scene();
  await push(at.project, 'master', at.base);
  t.is((await call(at, '/merge')).status, 200);
  t.is(await git(at.project, 'log', '-1', '--format=%P', 'master'), `${at.base} ${at.side}`);
});

test('a message of its own is taken as it is, and one without a description has its place blank', async (t) => {
  const at = await scene();
  const form = { merge_commit_message: 'All\r\nmine $(true) "é"\n' };
  t.is((await call(at, '/merge', { form })).status, 200);
  t.is(await git(at.project, 'log', '-1', '--format=%B', 'master'), 'All\nmine $(true) "é"');
  const other = await scene({ columns: { description: null } });
  await call(other, '/merge');
  const text = await git(other.project, 'cat-file', 'commit', 'master');
  t.true(text.endsWith("\n\nMerge branch 'side' into 'master'\n\nDo something\n\n\n\nSee merge request !1"));
});

test('the right is asked for first, then the state, then the branches', async (t) => {
  const at = await scene({ side: { 'm.txt': 'else\n' }, columns: { title: 'WIP: Do it' } });
  const developer = await holder.app.make.member(at.project, 'developer');
  const reporter = await holder.app.make.member(at.project, 'reporter');
  await protect(at.project);
  const unauthorized = [401, '401 Unauthorized'];
  const refusals = async (as: string) => {
    const { status, body } = await call<Json>(at, '/merge', { as });
    return [status, body.message];
  };
  t.deepEqual(await refusals(developer.token), unauthorized);
  t.deepEqual(await refusals(reporter.token), unauthorized);
  t.deepEqual(await refusals(at.project.owner.token), [405, '405 Method Not Allowed']);
  for (const state of ['closed', 'merged']) {
    await holder.app.rows(`update merge_requests set state = $2, title = 'Do' where id = $1`, [at.id, state]);
    t.deepEqual(await refusals(at.project.owner.token), [405, '405 Method Not Allowed']);
  }
  await holder.app.rows(`update merge_requests set state = 'reopened' where id = $1`, [at.id]);
  t.deepEqual(await refusals(at.project.owner.token), [405, 'Branch cannot be merged']);
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
  t.like(await stateOf(at.id), { state: 'reopened', merge_commit_sha: null });
  t.is(await outstanding(at.project), 0);
});

test('developers merge into protected branches only where these let them', async (t) => {
  for (const column of ['developers_can_merge', 'developers_can_push']) {
    const at = await scene();
    const { token } = await holder.app.make.member(at.project, 'developer');
    const set = `update protected_branches set ${column} = true where project_id = $1 and name = 'master'`;
    await protect(at.project);
    t.is((await call(at, '/merge', { as: token })).status, 401);
    await holder.app.rows(set, [at.project.id]);
    t.is((await call(at, '/merge', { as: token })).status, 200);
  }
});

test('without something to merge, or without one of the branches, nothing can be merged', async (t) => {
  const at = await scene();
  const others = [
    await request(at.project, { from: 'same', columns: { head_sha: at.base } }),
    await request(at.project, { from: 'none' }),
    await request(at.project, { to: 'none' }),
  ];
  await push(at.project, 'same', at.base);
  for (const { id } of others) {
    const { status, body } = await call<Json>({ ...at, id }, '/merge');
    t.deepEqual([status, body.message], [405, 'Branch cannot be merged']);
  }
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
});

test('histories that have nothing in common are not merged', async (t) => {
  const at = await scene();
  const alone = await commit(at.project, [], { alone: 'x' });
  await push(at.project, 'alone', alone);
  const { id } = await request(at.project, { from: 'alone', columns: { head_sha: alone, base_sha: null } });
  t.is((await call({ ...at, id }, '/merge')).status, 405);
});

test('who knows of other commits than there are does not merge them', async (t) => {
  const at = await scene();
  const { status, body } = await call<Json>(at, '/merge', { form: { sha: at.base } });
  t.deepEqual([status, body.message], [409, `SHA does not match HEAD of source branch: ${at.side}`]);
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
  t.is((await call(at, '/merge', { form: { sha: at.side } })).status, 200);
});

test('commits that nobody was told of yet are merged as what they are', async (t) => {
  const at = await scene();
  const late = await commit(at.project, [at.side], { late: 'x' });
  // As a push that is not settled yet leaves it.
  await git(at.project, 'update-ref', 'refs/heads/side', late);
  t.is((await call(at, '/merge')).status, 200);
  t.is(await git(at.project, 'log', '-1', '--format=%P', 'master'), `${at.master} ${late}`);
  t.like(await stateOf(at.id), { state: 'merged', head_sha: late });
});

test('the source branch goes with the merge when that is wished for, and the request shows it merged', async (t) => {
  const at = await scene();
  const form = { should_remove_source_branch: 'true' };
  const answer = await call<Json>(at, '/merge', { form });
  t.like(answer.body, { state: 'merged' });
  t.is(await git(at.project, 'for-each-ref', 'refs/heads/side'), '');
  t.deepEqual(
    await holder.app.rows(`select 1 from graphile_worker.jobs where key = $1`, [
      `remove_source_branch:${at.id}`,
    ]),
    [],
  );
  t.deepEqual(await eventsOf(at.id), ['accepted']);
});

test('a no, a protected branch, the default one and one that takes no pushes leave the source branch', async (t) => {
  const no = await scene();
  await call(no, '/merge', { form: { should_remove_source_branch: 'false' } });
  t.is(await git(no.project, 'rev-parse', 'side'), no.side);

  const isProtected = await scene();
  await holder.app.rows(`insert into protected_branches (project_id, name) values ($1, 'side')`, [
    isProtected.project.id,
  ]);
  const isDefault = await scene();
  await holder.app.rows(`update projects set default_branch = 'side' where id = $1`, [isDefault.project.id]);
  for (const at of [isProtected, isDefault]) {
    const { status } = await call(at, '/merge', { form: { should_remove_source_branch: 'true' } });
    t.is(status, 200);
    t.is(await git(at.project, 'rev-parse', 'side'), at.side);
    t.like(await stateOf(at.id), { state: 'merged' });
  }
});

test('the commits of a fork are merged, and its branch goes only for those who may push there', async (t) => {
  const at = await scene();
  const fork = await holder.app.make.project();
  await git(fork, 'fetch', '--quiet', at.dir, `${at.base}:refs/heads/master`);
  const sha = await commit(fork, [at.base], { forked: 'x' });
  await push(fork, 'topic', sha);
  const { id } = await request(at.project, { source: fork, from: 'topic', columns: { head_sha: null } });
  const form = { should_remove_source_branch: 'true' };
  const answer = await call<Json>({ ...at, id }, '/merge', { form });
  t.deepEqual([answer.status, answer.body.state], [200, 'merged']);
  t.is(await git(at.project, 'log', '-1', '--format=%P', 'master'), `${at.master} ${sha}`);
  t.is(await git(fork, 'rev-parse', 'topic'), sha);
  t.is((await git(at.project, 'fsck', '--connectivity-only')).replace(/^dangling .*$/gm, '').trim(), '');
});

test('the same request under the singular path is the same one; of another project it is none', async (t) => {
  const at = await scene();
  const other = await scene();
  const { app } = holder;
  const path = (project: { id: number }) => `/api/v3/projects/${project.id}/merge_request/${at.id}/merge`;
  t.is((await app.call('PUT', path(other.project), { as: other.project.owner.token })).status, 404);
  t.is((await app.call('PUT', path(at.project), { as: at.project.owner.token })).status, 200);
});

test('a merge while the project is imported is refused', async (t) => {
  const at = await scene();
  await holder.app.rows(`update projects set import_status = 'started' where id = $1`, [at.project.id]);
  t.is((await call(at, '/merge')).status, 409);
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
});

test('an update with the event merge is a merge, with the same rights and refusals', async (t) => {
  const at = await scene();
  const form = { state_event: 'merge' };
  const reporter = await holder.app.make.member(at.project, 'reporter');
  t.is((await call(at, '', { form, as: reporter.token })).status, 401);
  const { status, body } = await call<Json>(at, '', { form });
  t.deepEqual([status, body.state], [200, 'merged']);
  t.is(await git(at.project, 'log', '-1', '--format=%P', 'master'), `${at.master} ${at.side}`);
  t.is((await call(at, '', { form })).status, 405);
  const clash = await scene({ side: { 'm.txt': 'else\n' } });
  t.is((await call(clash, '', { form })).status, 405);
});

test('in an archived project, and where merge requests are off, nothing is merged', async (t) => {
  for (const column of ['archived = true', 'merge_requests_enabled = false']) {
    const at = await scene();
    await holder.app.rows(`update projects set ${column} where id = $1`, [at.project.id]);
    const { status } = await call(at, '/merge');
    t.true(status === 401 || status === 403, `${status}`);
    t.is(await git(at.project, 'rev-parse', 'master'), at.master);
  }
});
