import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { recordPush } from '../../server/actions/record-push.ts';
import { pushIdentity, settlePush } from '../../server/actions/settle-push.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { updateRef } from '../../server/git/refs.ts';
import { countStatements } from '../support/count-statements.ts';
import { withMerging } from '../support/merge-scene.ts';

const { holder, git, commit, push, request, scene, stateOf, notesOf, eventsOf, outstanding } = withMerging();

test('a push to the source branch gives the merge request its commits, and notes them', async (t) => {
  const at = await scene({ columns: { merge_when_build_succeeds: true, merge_status: 'can_be_merged' } });
  const pusher = await holder.app.make.member(at.project, 'developer');
  const first = await commit(at.project, [at.side], { a: 'a' });
  const second = await commit(at.project, [first], { b: 'b' });
  await push(at.project, 'side', second, pusher);
  t.like(await stateOf(at.id), {
    state: 'opened',
    head_sha: second,
    base_sha: at.base,
    merge_status: 'unchecked',
    merge_when_build_succeeds: false,
  });
  const titles = (
    await git(at.project, 'log', '--format=* %h - %s', '--abbrev=8', `${at.side}..${second}`)
  ).split('\n');
  t.deepEqual(await notesOf(at.id), [`${pusher.username}: Added 2 commits:\n\n${titles.join('\n')}`]);
  t.is(await git(at.project, 'rev-parse', `refs/merge-requests/${at.iid}/head`), second);
  t.is(await git(at.project, 'rev-parse', `refs/keep-around/${second}`), second);
});

test('commits of the target that come in with a push are not told of, and going back tells of none', async (t) => {
  const at = await scene();
  const merged = await commit(at.project, [at.side, at.master], { 'm.txt': 'of master\n' });
  await push(at.project, 'side', merged);
  const [note = ''] = await notesOf(at.id);
  t.regex(note, /: Added 1 commit:\n\n\* [0-9a-f]{8} - Change \d+$/);
  t.like(await stateOf(at.id), { head_sha: merged, base_sha: at.master });
  await push(at.project, 'side', at.side);
  t.is((await notesOf(at.id)).length, 1);
  t.like(await stateOf(at.id), { head_sha: at.side, base_sha: at.base });
});

test('a push to the target branch has the status looked at anew, and leaves the rest', async (t) => {
  const at = await scene({ columns: { merge_status: 'can_be_merged' } });
  const before = await stateOf(at.id);
  await push(at.project, 'master', await commit(at.project, [at.master], { a: 'a' }));
  t.deepEqual(await stateOf(at.id), { ...before, merge_status: 'unchecked' });
  t.deepEqual(await notesOf(at.id), []);
});

test('whose commits somebody brings to the target by hand is merged, by him', async (t) => {
  const at = await scene();
  const other = await request(at.project, { from: 'other', columns: { head_sha: at.base } });
  const pusher = await holder.app.make.member(at.project, 'master');
  const byHand = await commit(at.project, [at.master, at.side], { 's.txt': 'of side\n' });
  await push(at.project, 'master', byHand, pusher);
  t.like(await stateOf(at.id), { state: 'merged', merge_user_id: pusher.id, merge_commit_sha: null });
  t.deepEqual(await notesOf(at.id), [`${pusher.username}: Status changed to merged`]);
  t.deepEqual(await eventsOf(at.id), ['accepted']);
  t.like(await stateOf(other.id), { state: 'opened' }, 'the target had all of it before');
});

test('a branch that goes takes along what is to be merged from or into it', async (t) => {
  const at = await scene();
  const { username } = at.project.owner;
  const into = await request(at.project, { from: 'master', to: 'side' });
  await push(at.project, 'side', null);
  t.like(await stateOf(at.id), { state: 'closed' });
  t.deepEqual(await notesOf(at.id), [
    `${username}: Deleted source branch \`side\``,
    `${username}: Status changed to closed`,
  ]);
  t.deepEqual(await eventsOf(at.id), ['closed']);
  t.like(await stateOf(into.id), { state: 'closed' });
  t.deepEqual(await notesOf(into.id), [`${username}: Status changed to closed`]);
  await push(at.project, 'side', at.side);
  t.is((await notesOf(at.id))[2], `${username}: Restored source branch \`side\``);
  t.is((await notesOf(into.id)).length, 1);
  t.like(await stateOf(at.id), { state: 'closed' });
});

test('a push that merges by hand and removes the source branch leaves it merged', async (t) => {
  const at = await scene();
  const byHand = await commit(at.project, [at.master, at.side], { 's.txt': 'of side\n' });
  const changes = [
    { ref: 'refs/heads/side', oldSha: at.side, newSha: zeroSha },
    { ref: 'refs/heads/master', oldSha: at.master, newSha: byHand },
  ];
  const { app } = holder;
  const pushId = await recordPush(app.work, {
    projectId: at.project.id,
    userId: at.project.owner.id,
    changes,
  });
  for (const { ref, oldSha, newSha } of changes) {
    await updateRef({ dir: at.dir, ref, newSha, expectedOld: oldSha, identity: pushIdentity(pushId) });
  }
  await settlePush(app.work, pushId, { isOver: true });
  t.like(await stateOf(at.id), { state: 'merged' });
  t.deepEqual(await eventsOf(at.id), ['accepted']);
});

test('a push that is settled in parts is followed once', async (t) => {
  const at = await scene();
  await push(at.project, 'side', null);
  const { app } = holder;
  const made = { ref: 'refs/heads/side', oldSha: zeroSha, newSha: at.side };
  const missing = { ref: 'refs/heads/never', oldSha: zeroSha, newSha: at.side };
  const userId = at.project.owner.id;
  const pushId = await recordPush(app.work, { projectId: at.project.id, userId, changes: [made, missing] });
  await updateRef({
    dir: at.dir,
    ref: made.ref,
    newSha: at.side,
    expectedOld: zeroSha,
    identity: pushIdentity(pushId),
  });
  t.false(await settlePush(app.work, pushId, { isOver: false }));
  t.false(await settlePush(app.work, pushId, { isOver: false }));
  const restored = (await notesOf(at.id)).filter((note) => note.includes('Restored'));
  t.is(restored.length, 1);
  await settlePush(app.work, pushId, { isOver: true });
  t.is(await outstanding(at.project), 0);
  t.is((await notesOf(at.id)).length, 3);
});

test('what is closed, merged or taken away is left alone', async (t) => {
  const at = await scene({ columns: { state: 'closed' } });
  const merged = await request(at.project, { columns: { state: 'merged' } });
  const gone = await request(at.project, { columns: { deleted_at: new Date() } });
  const ids = [at.id, merged.id, gone.id];
  const before = await Promise.all(ids.map(stateOf));
  await push(at.project, 'side', await commit(at.project, [at.side], { a: 'a' }));
  await push(at.project, 'master', await commit(at.project, [at.master, at.side], {}));
  await push(at.project, 'side', null);
  t.deepEqual(await Promise.all(ids.map(stateOf)), before);
  for (const id of ids) t.deepEqual(await notesOf(id), []);
});

// Before a test that carries out tasks: what is delivered shows no more what it was about.
test.serial('hooks hear of a push to the source, of a merge and of a branch that went', async (t) => {
  const at = await scene();
  const hooks = `insert into hooks (project_id, url, merge_requests_events, push_events) values ($1, 'http://hook.example', true, false)`;
  await holder.app.rows(hooks, [at.project.id]);
  await push(at.project, 'other', at.base);
  const other = await request(at.project, { from: 'other' });
  await push(at.project, 'side', await commit(at.project, [at.side], { a: 'a' }));
  await push(
    at.project,
    'master',
    await commit(at.project, [at.master, (await stateOf(at.id)).head_sha ?? ''], {}),
  );
  await push(at.project, 'other', null);
  const told = await holder.app.rows<{ action: string; id: number; state: string }>(
    `select subject::json->>'action' as action, (subject::json->'row'->>'id')::int as id,
       subject::json->'row'->>'state' as state
     from hook_deliveries d join hooks h on h.id = d.hook_id where h.project_id = $1 order by d.id`,
    [at.project.id],
  );
  t.deepEqual(told, [
    { action: 'update', id: at.id, state: 'opened' },
    { action: 'merge', id: at.id, state: 'merged' },
    { action: 'close', id: other.id, state: 'closed' },
  ]);
});

test('a source that has been brought to the target before goes as merged, if it had something of its own', async (t) => {
  const at = await scene();
  // As a push leaves it that brought in more than anybody looks through.
  await git(
    at.project,
    'update-ref',
    'refs/heads/master',
    await commit(at.project, [at.master, at.side], {}),
  );
  await push(at.project, 'same', at.base);
  const same = await request(at.project, { from: 'same' });
  await push(at.project, 'side', null);
  await push(at.project, 'same', null);
  t.like(await stateOf(at.id), { state: 'merged' });
  t.is((await notesOf(at.id))[0], `${at.project.owner.username}: Deleted source branch \`side\``);
  t.like(await stateOf(same.id), { state: 'closed' });
});

test('the target of a fork is told of the branch, whoever is its own', async (t) => {
  const at = await scene();
  const fork = await holder.app.make.project();
  await git(fork, 'fetch', '--quiet', at.dir, `${at.side}:refs/heads/side`);
  await push(fork, 'side', null);
  t.like(await stateOf(at.id), { state: 'opened' }, 'it comes from another project');
  await push(fork, 'master', at.side);
  t.like(await stateOf(at.id), { state: 'opened' }, 'it goes to another project');
});

test('a user who is gone by the time is stood in for by whoever wrote the request', async (t) => {
  const at = await scene();
  const { app } = holder;
  const sha = await commit(at.project, [at.side], { a: 'a' });
  const change = { ref: 'refs/heads/side', oldSha: at.side, newSha: sha };
  const pushId = await recordPush(app.work, { projectId: at.project.id, userId: null, changes: [change] });
  await updateRef({
    dir: at.dir,
    ref: change.ref,
    newSha: sha,
    expectedOld: at.side,
    identity: pushIdentity(pushId),
  });
  await settlePush(app.work, pushId, { isOver: true });
  t.regex((await notesOf(at.id))[0] ?? '', new RegExp(`^${at.project.owner.username}: Added 1 commit:`));
});

test.serial(
  'a push costs as many statements for many requests into its branch as for one, and one more than for none',
  async (t) => {
    const counts: number[] = [];
    for (const others of [0, 1, 20]) {
      const at = await scene();
      for (let number = 0; number < others; number += 1) {
        await request(at.project, {
          from: `from-${number}`,
          columns: { head_sha: at.side, merge_status: 'can_be_merged' },
        });
      }
      if (others === 0) await holder.app.rows('delete from merge_requests where id = $1', [at.id]);
      const sha = await commit(at.project, [at.master], { a: 'a' });
      counts.push(await countStatements(() => push(at.project, 'master', sha)));
    }
    const [none = 0, one, many] = counts;
    t.deepEqual([one, many], [none + 1, none + 1]);
  },
);

test('commits that cannot be brought over now are brought later, and the push is settled all the same', async (t) => {
  const at = await scene();
  const fork = await holder.app.make.project();
  await git(fork, 'fetch', '--quiet', at.dir, `${at.side}:refs/heads/topic`);
  const { id, iid } = await request(at.project, {
    source: fork,
    from: 'topic',
    columns: { head_sha: at.side },
  });
  const sha = await commit(fork, [at.side], { more: 'x' });
  // A folder is in the way of the ref.
  const place = join(at.dir, 'refs/merge-requests', String(iid), 'head/in/the/way');
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, `${at.side}\n`);
  await push(fork, 'topic', sha);
  t.is(await outstanding(fork), 0);
  t.like(await stateOf(id), { head_sha: at.side });
  await rm(join(at.dir, 'refs/merge-requests', String(iid)), { recursive: true });
  await holder.app.runAllTasks();
  t.like(await stateOf(id), { head_sha: sha });
});
