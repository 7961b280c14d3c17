import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readRef } from '../../server/git/refs.ts';
import {
  type Consequences,
  type CrashScene,
  openPush,
  sideCommand,
  withCrashingPushes,
} from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import { cloneUrl } from '../support/git.ts';
import { gitsOf, type ServerProcess, signalGroup, startServerProcess } from '../support/server-process.ts';

const pushes = withCrashingPushes();
const { holder, scene, beginPush, pushesOf, consequences, hold, somebodyWaits } = pushes;

const nothing: Consequences = { pipelines: [], events: [] };
const once: Consequences = { pipelines: ['side'], events: ['refs/heads/side'] };

function urlOf(at: CrashScene, server: { url: string }): string {
  return cloneUrl(server, at.project, { password: at.project.owner.token });
}

/** Starts the server again and waits until it has looked at every push that is left. */
async function restart(t: ExecutionContext, at: CrashScene): Promise<ServerProcess> {
  const server = await startServerProcess(t, holder.app);
  await eventually(async () => (await pushesOf(at.project)).length === 0);
  return server;
}

test.serial('a crash among the commands leaves nothing', async (t) => {
  const at = await scene(t);
  const socket = openPush(at.server, at.project);
  const command = sideCommand(at.sha);
  socket.write(command.subarray(0, command.length / 2));
  await eventually(() => socket.socket !== null && socket.socket.bytesWritten > command.length / 2);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await at.server.crash();
  await closed;
  await holder.app.runAllTasks();
  t.deepEqual(await consequences(at), nothing);
  t.deepEqual(await pushesOf(at.project), []);
  t.is(await readRef(at.dir, 'refs/heads/side'), null);
});

test.serial('git that outlives its server moves the ref, and then all follows, once', async (t) => {
  const at = await scene(t);
  const lock = join(at.dir, 'refs/heads/side.lock');
  await writeFile(lock, '');
  const { socket, pack } = await beginPush(at);
  const [git = 0] = await gitsOf(at.server.pid);
  socket.end(pack);
  const object = join(at.dir, 'objects', at.sha.slice(0, 2), at.sha.slice(2));
  await eventually(() => existsSync(object));
  // It has the pack, and waits for the lock: for a second, which stands still while git does.
  signalGroup(git, 'SIGSTOP');
  await at.server.crash();
  await rm(lock);
  signalGroup(git, 'SIGCONT');
  await eventually(() => !signalGroup(git, 0));
  t.is(await readRef(at.dir, 'refs/heads/side'), at.sha);
  t.deepEqual(await consequences(at), nothing, 'nobody was there to write them');
  await holder.app.runAllTasks();
  t.deepEqual(await consequences(at), once);
  t.deepEqual(await pushesOf(at.project), []);
});

test.serial('a crash between the consequences and the answer does not repeat them', async (t) => {
  const at = await scene(t);
  const { socket, pack } = await beginPush(at);
  socket.end(pack);
  await eventually(async () => (await pushesOf(at.project)).length === 0);
  await at.server.crash();
  const server = await restart(t, at);
  t.deepEqual(await consequences(at), once);
  const again = await at.tree.try('push', urlOf(at, server), 'HEAD:side');
  t.regex(again.stderr, /up-to-date/);
  await holder.app.runAllTasks();
  t.deepEqual(await consequences(at), once);
  await server.crash();
});

test.serial('a crash while an earlier crash is being mended changes nothing', async (t) => {
  const at = await scene(t);
  const { socket, pack } = await beginPush(at);
  const [push] = await pushesOf(at.project);
  const row = await hold(t, 'select 1 from pushes where id = $1 for update', [push?.id]);
  socket.end(pack);
  await eventually(async () => (await readRef(at.dir, 'refs/heads/side')) === at.sha);
  await at.server.crash();
  await row.release();
  const project = await hold(t, 'select 1 from projects where id = $1 for no key update', [at.project.id]);
  const second = await startServerProcess(t, holder.app);
  await eventually(somebodyWaits);
  await second.crash();
  await project.release();
  await eventually(async () => !(await somebodyWaits()));
  t.deepEqual(await consequences(at), nothing);
  const third = await restart(t, at);
  t.deepEqual(await consequences(at), once);
  await third.crash();
});

test.serial(
  'a crash in the first push, when HEAD is set already, ends with the default branch',
  async (t) => {
    const at = await scene(t, { isEmpty: true });
    const lock = await hold(t, 'lock table events in share row exclusive mode');
    const pushed = at.tree.try('push', urlOf(at, at.server), 'HEAD:trunk');
    await eventually(somebodyWaits);
    t.is(await readFile(join(at.dir, 'HEAD'), 'utf8'), 'ref: refs/heads/trunk\n');
    await at.server.crash();
    await lock.release();
    t.not((await pushed).code, 0);
    t.is(await defaultBranch(at), null);
    const server = await restart(t, at);
    t.is(await defaultBranch(at), 'trunk');
    t.deepEqual(await consequences(at), { pipelines: ['trunk'], events: ['refs/heads/trunk'] });
    await server.crash();
  },
);

async function defaultBranch({ project }: CrashScene): Promise<string | null | undefined> {
  const rows = await holder.app.rows<{ default_branch: string | null }>(
    'select default_branch from projects where id = $1',
    [project.id],
  );
  return rows[0]?.default_branch;
}

test.serial('a crash after one push moved, made and removed refs: each change follows, once', async (t) => {
  const at = await scene(t);
  const url = urlOf(at, at.server);
  t.is((await at.tree.try('push', url, 'HEAD:moved', 'HEAD:gone')).code, 0);
  await at.tree.commit({ 'file.txt': 'more' });
  const before = await consequences(at);
  const lock = await hold(t, 'select 1 from projects where id = $1 for no key update', [at.project.id]);
  const pushed = at.tree.try('push', url, 'HEAD:moved', 'HEAD:made', ':gone');
  await eventually(somebodyWaits);
  await at.server.crash();
  await lock.release();
  t.not((await pushed).code, 0);
  t.is(await readRef(at.dir, 'refs/heads/gone'), null);
  t.deepEqual(await consequences(at), before);
  const server = await restart(t, at);
  t.deepEqual(await consequences(at), {
    pipelines: ['gone', 'made', 'moved', 'moved'],
    events: ['gone', 'gone', 'made', 'moved', 'moved'].map((name) => `refs/heads/${name}`),
  });
  await server.crash();
});
