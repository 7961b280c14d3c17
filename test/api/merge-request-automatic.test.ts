import test from 'ava';
import { finishBuild } from '../../server/actions/finish-build.ts';
import { inTransaction } from '../../server/sql.ts';
import { eventually } from '../support/eventually.ts';
import { type MergeScene, withMerging } from '../support/merge-scene.ts';

const { holder, git, commit, push, scene, stateOf, notesOf, eventsOf, call } = withMerging();

interface Json {
  state: string;
  merge_when_build_succeeds: boolean;
  message: string;
}

/** What a service outside says of the commits of the merge request. */
async function say(at: MergeScene, state: string, sha = at.side): Promise<void> {
  const { owner, id } = at.project;
  const form = { state, ref: 'side', name: 'outside' };
  await holder.app.call('POST', `/api/v3/projects/${id}/statuses/${sha}`, { as: owner.token, form });
}

/** Its task may have been taken by the tasks of a test beside this one. */
async function becomesMerged({ id }: MergeScene): Promise<void> {
  await holder.app.runTasks();
  await eventually(async () => (await stateOf(id)).state === 'merged');
}

const later = { form: { merged_when_build_succeeds: 'true' } };

test('it waits for the builds, and is merged with them as it was wished for', async (t) => {
  const at = await scene();
  const merger = await holder.app.make.member(at.project, 'master');
  await say(at, 'running');
  const form = {
    merge_when_build_succeeds: 'true',
    merge_commit_message: 'Later',
    should_remove_source_branch: '1',
  };
  const answer = await call<Json>(at, '/merge', { as: merger.token, form });
  t.is(answer.status, 200);
  t.like(answer.body, { state: 'opened', merge_when_build_succeeds: true });
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
  await holder.app.runTasks();
  t.like(await stateOf(at.id), { state: 'opened' });
  await say(at, 'success');
  await becomesMerged(at);
  t.like(await stateOf(at.id), {
    state: 'merged',
    merge_user_id: merger.id,
    merge_when_build_succeeds: false,
  });
  t.is(
    await git(at.project, 'log', '-1', '--format=%an|%s|%P', 'master'),
    `Name of ${merger.username}|Later|${at.master} ${at.side}`,
  );
  t.deepEqual(await notesOf(at.id), [
    `${merger.username}: Enabled an automatic merge when the build for ${at.side} succeeds`,
    `${merger.username}: Status changed to merged`,
  ]);
  await eventually(async () => (await git(at.project, 'for-each-ref', 'refs/heads/side')) === '');
});

test('where nothing is to come it is merged at once', async (t) => {
  for (const state of [null, 'success', 'failed']) {
    const at = await scene();
    if (state !== null) await say(at, state);
    t.like((await call<Json>(at, '/merge', later)).body, {
      state: 'merged',
      merge_when_build_succeeds: false,
    });
  }
});

test('with its last build it is merged, not with the first one', async (t) => {
  const at = await scene();
  const first = await holder.app.make.build(at.project, { sha: at.side, ref: 'side', status: 'running' });
  const given = { pipelineId: first.pipelineId, status: 'running' as const };
  const second = await holder.app.make.build(at.project, given);
  await call(at, '/merge', later);
  for (const build of [first, second]) {
    t.like(await stateOf(at.id), { state: 'opened' });
    await inTransaction(holder.app.work, async (work) => {
      await finishBuild(work, {
        buildId: build.id,
        pipelineId: build.pipelineId,
        status: 'success',
        from: ['running'],
      });
    });
  }
  await becomesMerged(at);
});

test('a failure leaves the wish, and a later success fulfils it', async (t) => {
  const at = await scene();
  await say(at, 'pending');
  await call(at, '/merge', later);
  await say(at, 'failed');
  await holder.app.runTasks();
  t.like(await stateOf(at.id), { state: 'opened', merge_when_build_succeeds: true });
  await say(at, 'success');
  await becomesMerged(at);
});

test('a push to the source takes the wish back', async (t) => {
  const at = await scene();
  await say(at, 'pending');
  await call(at, '/merge', later);
  const next = await commit(at.project, [at.side], { next: 'x' });
  await push(at.project, 'side', next);
  await say(at, 'success');
  await say(at, 'success', next);
  await holder.app.runTasks();
  t.like(await stateOf(at.id), { state: 'opened', merge_when_build_succeeds: false, head_sha: next });
});

test('what cannot be merged when the time comes stays open, with the wish', async (t) => {
  const at = await scene();
  await say(at, 'pending');
  await call(at, '/merge', later);
  await holder.app.rows(`update merge_requests set title = 'WIP: ' || title where id = $1`, [at.id]);
  await say(at, 'success');
  await holder.app.runTasks();
  t.like(await stateOf(at.id), { state: 'opened', merge_when_build_succeeds: true });
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
});

test('in the name of somebody who is blocked, or may not any more, nothing is merged', async (t) => {
  for (const text of [
    `update users set state = 'blocked' where id = $1`,
    `delete from project_members where user_id = $1`,
  ]) {
    const at = await scene();
    const merger = await holder.app.make.member(at.project, 'master');
    await say(at, 'pending');
    await call(at, '/merge', { as: merger.token, ...later });
    await holder.app.rows(text, [merger.id]);
    await say(at, 'success');
    await holder.app.runTasks();
    t.like(await stateOf(at.id), { state: 'opened' });
    t.is(await git(at.project, 'rev-parse', 'master'), at.master);
  }
});

test('a conflict is told at once, not later', async (t) => {
  const at = await scene({ side: { 'm.txt': 'else\n' } });
  await say(at, 'pending');
  t.is((await call(at, '/merge', later)).status, 405);
  t.like(await stateOf(at.id), { merge_when_build_succeeds: false });
});

test('the wish can be taken back with PUT and POST, by the author and by those who may merge', async (t) => {
  const at = await scene();
  const author = await holder.app.make.member(at.project, 'guest');
  const developer = await holder.app.make.member(at.project, 'developer');
  await holder.app.rows('update merge_requests set author_id = $2 where id = $1', [at.id, author.id]);
  await say(at, 'pending');
  const path = '/cancel_merge_when_build_succeeds';
  for (const [method, { token, username }] of [
    ['PUT', author],
    ['POST', developer],
  ] as const) {
    await call(at, '/merge', later);
    const answer = await call<Json>(at, path, { method, as: token });
    t.deepEqual([answer.status, answer.body.merge_when_build_succeeds], [200, false]);
    t.is((await notesOf(at.id)).at(-1), `${username}: Canceled the automatic merge`);
  }
  await say(at, 'success');
  await holder.app.runTasks();
  t.like(await stateOf(at.id), { state: 'opened', merge_user_id: null });
  t.deepEqual(await eventsOf(at.id), []);
});

test('who may not take it back is told so before whether there is something to take back', async (t) => {
  const at = await scene();
  const stranger = await holder.app.make.member(at.project, 'reporter');
  const path = '/cancel_merge_when_build_succeeds';
  const tried = async (as?: string) => {
    const { status, body } = await call<Json>(at, path, { as });
    return [status, body.message];
  };
  t.deepEqual(await tried(stranger.token), [401, '401 Unauthorized']);
  t.deepEqual(await tried(), [406, "Can't cancel the automatic merge"]);
  for (const state of ['closed', 'merged']) {
    await holder.app.rows('update merge_requests set state = $2 where id = $1', [at.id, state]);
    t.deepEqual(await tried(), [405, '405 Method Not Allowed']);
    t.deepEqual(await tried(stranger.token), [401, '401 Unauthorized']);
  }
});

test('a second wish takes the place of the first and is not noted again', async (t) => {
  const at = await scene();
  await say(at, 'pending');
  await call(at, '/merge', later);
  const other = await holder.app.make.member(at.project, 'master');
  await call(at, '/merge', { as: other.token, form: { ...later.form, merge_commit_message: 'Mine' } });
  t.is((await notesOf(at.id)).length, 1);
  await say(at, 'success');
  await becomesMerged(at);
  t.is(await git(at.project, 'log', '-1', '--format=%an|%s', 'master'), `Name of ${other.username}|Mine`);
});

test('builds that succeed at the moment of the wish fulfil it', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const at = await scene();
    await say(at, 'running');
    const [answer] = await Promise.all([call(at, '/merge', later), say(at, 'success')]);
    t.is(answer.status, 200);
    await becomesMerged(at);
    t.deepEqual(await eventsOf(at.id), ['accepted']);
  }
});

test('what was unfinished when its builds succeeded is merged once its title says otherwise', async (t) => {
  const at = await scene();
  await say(at, 'running');
  await call(at, '/merge', later);
  const { app } = holder;
  const path = `/api/v3/projects/${at.project.id}/merge_requests/${at.id}`;
  const rename = (title: string) => app.call('PUT', path, { as: at.project.owner.token, form: { title } });
  t.is((await rename('WIP: Side')).status, 200);
  await say(at, 'success');
  await app.runTasks();
  t.like(await stateOf(at.id), { state: 'opened', merge_when_build_succeeds: true });
  t.is((await rename('Side')).status, 200);
  await becomesMerged(at);
});
