import test from 'ava';
import { withMerging } from '../support/merge-scene.ts';

const { holder, git, commit, push, request, scene, stateOf, notesOf, call } = withMerging();

interface Json {
  merge_status: string;
}

async function statusOf(at: Parameters<typeof call>[0]): Promise<string> {
  return (await call<Json>(at, '', { method: 'GET' })).body.merge_status;
}

test('whether it can be merged follows what is pushed to either side', async (t) => {
  const at = await scene();
  t.is(await statusOf(at), 'can_be_merged');
  const clash = await commit(at.project, [at.side], { 'm.txt': 'else\n' });
  await push(at.project, 'side', clash);
  t.is((await stateOf(at.id)).merge_status, 'unchecked');
  t.is(await statusOf(at), 'cannot_be_merged');
  await push(at.project, 'master', at.base);
  t.is(await statusOf(at), 'can_be_merged');
  await push(at.project, 'master', await commit(at.project, [at.base], { 'm.txt': 'third\n' }));
  t.is(await statusOf(at), 'cannot_be_merged');
});

test('it is found out again though nobody was told that the branches moved', async (t) => {
  const at = await scene();
  t.is(await statusOf(at), 'can_be_merged');
  await git(
    at.project,
    'update-ref',
    'refs/heads/side',
    await commit(at.project, [at.base], { 'm.txt': 'else\n' }),
  );
  t.is(await statusOf(at), 'cannot_be_merged');
});

test('it is kept as long as the branches stay where they are', async (t) => {
  const at = await scene();
  await statusOf(at);
  const [before] = await holder.app.rows(
    'select checked_source_sha, checked_target_sha from merge_requests where id = $1',
    [at.id],
  );
  t.deepEqual(before, { checked_source_sha: at.side, checked_target_sha: at.master });
  // What is there is believed.
  await holder.app.rows(`update merge_requests set merge_status = 'cannot_be_merged' where id = $1`, [at.id]);
  t.is(await statusOf(at), 'cannot_be_merged');
});

test('without one of the branches, without commits and without common history it cannot be merged', async (t) => {
  const at = await scene();
  const alone = await commit(at.project, [], { alone: 'x' });
  await push(at.project, 'alone', alone);
  await push(at.project, 'same', at.base);
  const given = [{ from: 'none' }, { to: 'none' }, { from: 'same' }, { from: 'alone' }];
  for (const branches of given) {
    const { id } = await request(at.project, branches);
    t.is(await statusOf({ ...at, id }), 'cannot_be_merged');
  }
});

test('of one that is closed or merged it stays what was last known', async (t) => {
  for (const state of ['closed', 'merged']) {
    const at = await scene({ columns: { state } });
    t.is(await statusOf(at), 'unchecked');
  }
});

test('commits of a fork are brought over, by pushes and by who looks', async (t) => {
  const at = await scene();
  const fork = await holder.app.make.project();
  await git(fork, 'fetch', '--quiet', at.dir, `${at.base}:refs/heads/master`);
  const first = await commit(fork, [at.base], { forked: 'x' });
  await git(fork, 'update-ref', 'refs/heads/topic', first);
  const { id, iid } = await request(at.project, {
    source: fork,
    from: 'topic',
    columns: { head_sha: first },
  });
  t.is(await statusOf({ ...at, id }), 'can_be_merged');
  const second = await commit(fork, [first], { 'm.txt': 'else\n' });
  await push(fork, 'topic', second);
  t.like(await stateOf(id), { head_sha: second, base_sha: at.base });
  t.is(await git(at.project, 'rev-parse', `refs/merge-requests/${iid}/head`), second);
  t.regex((await notesOf(id))[0] ?? '', new RegExp(`^${fork.owner.username}: Added 1 commit:`));
  t.is(await statusOf({ ...at, id }), 'cannot_be_merged');
  await push(fork, 'topic', null);
  t.like(await stateOf(id), { state: 'closed' });
});

test('a fork that is about to go has no branches any more', async (t) => {
  const at = await scene();
  const fork = await holder.app.make.project();
  const sha = await commit(fork, [], { forked: 'x' });
  await git(fork, 'update-ref', 'refs/heads/topic', sha);
  const { id } = await request(at.project, { source: fork, from: 'topic' });
  await holder.app.rows('update projects set pending_delete = true where id = $1', [fork.id]);
  t.is(await statusOf({ ...at, id }), 'cannot_be_merged');
  t.is((await call({ ...at, id }, '/merge')).status, 405);
});

test('fifty who look at once at what a push has changed are told the same', async (t) => {
  const at = await scene({ side: { 'm.txt': 'else\n' } });
  const told = await Promise.all(Array.from({ length: 50 }, () => statusOf(at)));
  t.deepEqual([...new Set(told)], ['cannot_be_merged']);
});
