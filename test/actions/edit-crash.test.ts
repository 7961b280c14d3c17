import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readRef } from '../../server/git/refs.ts';
import { type CrashScene, withCrashingPushes } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import { tryGit } from '../support/git.ts';
import { moversOf, startServerProcess } from '../support/server-process.ts';

const { holder, scene, pushesOf, consequences, hold, somebodyWaits, letHoursPass } = withCrashingPushes();

/** Commits a configuration to the branch `side`. @returns the status; null when the server was gone. */
async function edit(at: CrashScene, server: { url: string }): Promise<number | null> {
  const path = `/api/v3/projects/${at.project.id}/repository/files`;
  const given = {
    file_path: '.gitlab-ci.yml',
    branch_name: 'side',
    content: 'a: {script: b}',
    commit_message: 'Begin',
  };
  const request = {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': at.project.owner.token },
    body: new URLSearchParams(given),
  };
  return fetch(server.url + path, request).then(
    ({ status }) => status,
    () => null,
  );
}

/** A project whose branch `side` is as master, with nothing left to do, and a server that is going to crash. */
async function sideScene(t: ExecutionContext): Promise<CrashScene & { head: string }> {
  const at = await scene(t);
  const head = (await readRef(at.dir, 'refs/heads/master')) ?? '';
  await tryGit(at.dir, ['update-ref', 'refs/heads/side', head]);
  return { ...at, head };
}

async function isSound(t: ExecutionContext, { dir }: CrashScene): Promise<void> {
  const checked = await tryGit(dir, ['fsck', '--full', '--strict', '--no-dangling']);
  t.deepEqual([checked.code, checked.stdout], [0, '']);
}

test.serial(
  'a crash when the commit is written and nothing is noted leaves the branch, and the edit can be repeated',
  async (t) => {
    const at = await sideScene(t);
    const lock = await hold(t, 'lock table pushes in share row exclusive mode');
    const edited = edit(at, at.server);
    await eventually(somebodyWaits);
    await at.server.crash();
    await lock.release();
    t.is(await edited, null);
    await eventually(async () => !(await somebodyWaits()));
    t.is(await readRef(at.dir, 'refs/heads/side'), at.head);
    const server = await startServerProcess(t, holder.app);
    t.deepEqual(await consequences(at), { pipelines: [], events: [] });
    t.is(await edit(at, server), 201);
    t.deepEqual(await consequences(at), { pipelines: ['side'], events: ['refs/heads/side'] });
    await isSound(t, at);
    await server.crash();
  },
);

test.serial('a power cut before the ref moves leaves the branch and no trace of the edit', async (t) => {
  const at = await sideScene(t);
  const lock = join(at.dir, 'refs/heads/side.lock');
  await (await open(lock, 'wx')).close();
  const edited = edit(at, at.server);
  await eventually(async () => (await moversOf(at.server.pid)).length > 0);
  for (const pid of await moversOf(at.server.pid)) process.kill(-pid, 'SIGKILL');
  await at.server.crash();
  t.is(await edited, null);
  await rm(lock);
  t.is(await readRef(at.dir, 'refs/heads/side'), at.head);
  await letHoursPass();
  t.deepEqual(await pushesOf(at.project), []);
  t.deepEqual(await consequences(at), { pipelines: [], events: [] });
  const server = await startServerProcess(t, holder.app);
  t.is(await edit(at, server), 201);
  t.deepEqual(await consequences(at), { pipelines: ['side'], events: ['refs/heads/side'] });
  await isSound(t, at);
  await server.crash();
});

test.serial('a crash when the ref has moved ends with the event and the pipeline, once', async (t) => {
  const at = await sideScene(t);
  const lock = await hold(t, 'lock table events in share row exclusive mode');
  const edited = edit(at, at.server);
  await eventually(somebodyWaits);
  await at.server.crash();
  await lock.release();
  t.is(await edited, null);
  t.not(await readRef(at.dir, 'refs/heads/side'), at.head);
  const server = await startServerProcess(t, holder.app);
  await eventually(async () => (await pushesOf(at.project)).length === 0);
  t.deepEqual(await consequences(at), { pipelines: ['side'], events: ['refs/heads/side'] });
  t.is(await edit(at, server), 400, 'the file is there');
  await isSound(t, at);
  await server.crash();
});
