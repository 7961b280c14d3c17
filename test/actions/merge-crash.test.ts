import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { databaseLocks } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import { tryGit } from '../support/git.ts';
import { type MergeScene, withMerging } from '../support/merge-scene.ts';
import { moversOf, type ServerProcess, startServerProcess } from '../support/server-process.ts';

const { holder, git, scene, stateOf, notesOf, eventsOf, outstanding } = withMerging();
const { hold, somebodyWaits } = databaseLocks(holder);

/** What writes down that something was merged waits there, and nothing before it does. */
const noNotes = 'lock table notes in share row exclusive mode';

/** Waits until the target branch has moved, and the settling of that is held up. */
function unsettled(at: MergeScene): Promise<void> {
  return eventually(
    async () => (await git(at.project, 'rev-parse', 'master')) !== at.master && (await somebodyWaits()),
  );
}

/** @returns the status; null when the server was gone. */
async function merge(at: MergeScene, server: { url: string }): Promise<number | null> {
  const path = `/api/v3/projects/${at.project.id}/merge_requests/${at.id}/merge`;
  const request = {
    method: 'PUT',
    headers: { 'PRIVATE-TOKEN': at.project.owner.token },
    body: new URLSearchParams({ should_remove_source_branch: 'true' }),
  };
  return fetch(server.url + path, request).then(
    ({ status }) => status,
    () => null,
  );
}

/** Nothing of a merge is to be seen, and it can be done now. */
async function isAsBefore(t: ExecutionContext, at: MergeScene): Promise<ServerProcess> {
  t.is(await git(at.project, 'rev-parse', 'master'), at.master);
  const server = await startServerProcess(t, holder.app);
  t.like(await stateOf(at.id), { state: 'opened', merge_commit_sha: null, head_sha: at.side });
  t.deepEqual(await eventsOf(at.id), []);
  t.is(await merge(at, server), 200);
  return server;
}

/** It was merged, once, and all follows that was wished for. */
async function isMerged(t: ExecutionContext, at: MergeScene): Promise<void> {
  await eventually(async () => (await outstanding(at.project)) === 0);
  await holder.app.runAllTasks();
  const merged = await git(at.project, 'rev-parse', 'master');
  t.is(await git(at.project, 'log', '-1', '--format=%P', merged), `${at.master} ${at.side}`);
  t.like(await stateOf(at.id), {
    state: 'merged',
    merge_commit_sha: merged,
    merge_user_id: at.project.owner.id,
  });
  t.deepEqual(await notesOf(at.id), [`${at.project.owner.username}: Status changed to merged`]);
  t.deepEqual(await eventsOf(at.id), ['accepted']);
  // A server that is there may be at it.
  await eventually(async () => (await git(at.project, 'for-each-ref', 'refs/heads/side')) === '');
  const checked = await tryGit(at.dir, ['fsck', '--full', '--strict', '--no-dangling']);
  t.deepEqual([checked.code, checked.stdout], [0, '']);
}

test.serial('a crash when the commit is written and nothing is noted leaves the request open', async (t) => {
  const at = await scene();
  const first = await startServerProcess(t, holder.app);
  const lock = await hold(t, 'lock table pushes in share row exclusive mode');
  const tried = merge(at, first);
  await eventually(somebodyWaits);
  await first.crash();
  await lock.release();
  t.is(await tried, null);
  await eventually(async () => !(await somebodyWaits()));
  const server = await isAsBefore(t, at);
  await isMerged(t, at);
  await server.crash();
});

test.serial('a power cut when the merge is noted and the branch has not moved leaves it open', async (t) => {
  const at = await scene();
  const first = await startServerProcess(t, holder.app);
  const lock = join(at.dir, 'refs/heads/master.lock');
  await (await open(lock, 'wx')).close();
  const tried = merge(at, first);
  await eventually(async () => (await moversOf(first.pid)).length > 0);
  for (const pid of await moversOf(first.pid)) process.kill(-pid, 'SIGKILL');
  await first.crash();
  t.is(await tried, null);
  await rm(lock);
  t.is(await outstanding(at.project), 1);
  const server = await isAsBefore(t, at);
  await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
  await isMerged(t, at);
  await server.crash();
});

test.serial('a crash when the branch has moved ends with a merged request, once', async (t) => {
  const at = await scene();
  const first = await startServerProcess(t, holder.app);
  const lock = await hold(t, noNotes);
  const tried = merge(at, first);
  await unsettled(at);
  await first.crash();
  await lock.release();
  t.is(await tried, null);
  t.like(await stateOf(at.id), { state: 'opened' });
  const server = await startServerProcess(t, holder.app);
  await isMerged(t, at);
  t.is(await merge(at, server), 405);
  await server.crash();
});

test.serial('whoever comes to a merge that a crash left unsettled settles it', async (t) => {
  const at = await scene();
  const first = await startServerProcess(t, holder.app);
  const lock = await hold(t, noNotes);
  const tried = merge(at, first);
  await unsettled(at);
  await first.crash();
  await lock.release();
  t.is(await tried, null);
  await eventually(async () => !(await somebodyWaits()));
  t.is(await merge(at, holder.app), 405);
  await isMerged(t, at);
});

test.serial(
  'a crash when it is merged and its source branch is not gone yet ends without the branch',
  async (t) => {
    const at = await scene();
    const first = await startServerProcess(t, holder.app);
    const lock = join(at.dir, 'refs/heads/side.lock');
    await (await open(lock, 'wx')).close();
    const tried = merge(at, first);
    await eventually(
      async () => (await stateOf(at.id)).state === 'merged' && (await moversOf(first.pid)).length > 0,
    );
    for (const pid of await moversOf(first.pid)) process.kill(-pid, 'SIGKILL');
    await first.crash();
    t.is(await tried, null);
    await rm(lock);
    t.is(await git(at.project, 'rev-parse', 'side'), at.side);
    await holder.app.runAllTasks();
    await isMerged(t, at);
  },
);
