import { existsSync } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { listRefs, readRef } from '../../server/git/refs.ts';
import { incoming, withCrashingPushes } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import { cloneUrl } from '../support/git.ts';
import { gitsOf, signalGroup, startServerProcess } from '../support/server-process.ts';

const pushes = withCrashingPushes();
const { holder, scene, beginPush, pushesOf, consequences, hold, somebodyWaits, letHoursPass } = pushes;

const nothing = { pipelines: [], events: [] };
const once = { pipelines: ['side'], events: ['refs/heads/side'] };

test.serial('a crash before the push is recorded leaves nothing', async (t) => {
  const at = await scene(t);
  const lock = await hold(t, 'lock table pushes in share row exclusive mode');
  const url = cloneUrl(at.server, at.project, { password: at.project.owner.token });
  const pushed = at.tree.try('push', url, 'HEAD:side');
  await eventually(somebodyWaits);
  await at.server.crash();
  await lock.release();
  t.not((await pushed).code, 0);
  await eventually(async () => !(await somebodyWaits()));
  await holder.app.runAllTasks();
  t.deepEqual(await consequences(at), nothing);
  t.deepEqual(await pushesOf(at.project), []);
  t.is(await readRef(at.dir, 'refs/heads/side'), null);
});

for (const [where, share] of [
  ['before the pack', 0],
  ['in the middle of the pack', 0.5],
] as const) {
  test.serial(`a crash ${where} leaves the refs, and the push is forgotten after its time`, async (t) => {
    const at = await scene(t);
    const { socket, pack } = await beginPush(at);
    if (share > 0) {
      socket.write(pack.subarray(0, pack.length * share));
      await eventually(async () => (await incoming(at)).length > 0);
    }
    await at.server.crash();
    await holder.app.runAllTasks();
    t.deepEqual(await consequences(at), nothing);
    t.is(await readRef(at.dir, 'refs/heads/side'), null);
    const longAgo = Date.now() / 1000 - 100 * 60;
    for (const name of await incoming(at)) await utimes(join(at.dir, 'objects', name), longAgo, longAgo);
    await holder.app.rows(`update pushes set created_at = now() - interval '100 minutes'`);
    await holder.app.runAllTasks();
    t.deepEqual(await incoming(at), [], 'what was received of the pack goes');
    await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
    await holder.app.runAllTasks();
    t.deepEqual(await pushesOf(at.project), []);
    t.deepEqual(await consequences(at), nothing);
  });
}

test.serial('a crash after the refs have moved has the pipeline later, once', async (t) => {
  const at = await scene(t);
  const { socket, pack } = await beginPush(at);
  const [push] = await pushesOf(at.project);
  const lock = await hold(t, 'select 1 from pushes where id = $1 for update', [push?.id]);
  socket.end(pack);
  await eventually(async () => (await readRef(at.dir, 'refs/heads/side')) === at.sha);
  await at.server.crash();
  await lock.release();
  t.deepEqual(await consequences(at), nothing);
  await holder.app.runAllTasks();
  t.deepEqual(await consequences(at), once);
  await holder.app.runAllTasks();
  t.deepEqual(await consequences(at), once);
  t.deepEqual(await pushesOf(at.project), []);
});

test.serial('a crash among the consequences takes all of them back, and they come later, once', async (t) => {
  const at = await scene(t);
  const { socket, pack } = await beginPush(at);
  const lock = await hold(t, 'select 1 from projects where id = $1 for no key update', [at.project.id]);
  socket.end(pack);
  await eventually(somebodyWaits);
  await at.server.crash();
  await lock.release();
  await eventually(async () => !(await somebodyWaits()));
  t.deepEqual(await consequences(at), nothing);
  t.is(await readRef(at.dir, 'refs/heads/side'), at.sha);
  const restarted = await startServerProcess(t, holder.app);
  await eventually(async () => (await pushesOf(at.project)).length === 0);
  t.deepEqual(await consequences(at), once);
  await restarted.crash();
});

test.serial('after a power cut among many refs, each that moved has its event and no other', async (t) => {
  for (const share of [0.1, 0.5]) {
    const at = await scene(t);
    const count = 200;
    const refspecs = Array.from({ length: count }, (_, index) => `HEAD:refs/tags/v${index}`);
    const url = cloneUrl(at.server, at.project, { password: at.project.owner.token });
    const pushed = at.tree.try('push', url, ...refspecs);
    const logs = join(at.dir, 'logs/refs/tags');
    const written = async () => (await readdir(logs).catch(() => [])).length;
    await eventually(async () => (await written()) >= count * share);
    await at.server.cutPower();
    await pushed;
    await letHoursPass();
    const moved = (await listRefs(at.dir, ['refs/tags'])).map(({ name }) => name);
    const found = await consequences(at);
    t.log(`${moved.length} of ${count} refs had moved`);
    t.deepEqual(found.events, moved.sort());
    t.is(found.pipelines.length, Math.min(20, moved.length));
    t.deepEqual(await pushesOf(at.project), []);
  }
});

test.serial(
  'whenever a server is killed during a push, the client can push again and all agree',
  async (t) => {
    const at = await scene(t);
    const url = (server: { url: string }) =>
      cloneUrl(server, at.project, { password: at.project.owner.token });
    let { server } = at;
    const branches: string[] = [];
    // Git that was killed as it moved the ref leaves a lock, which goes when nobody can hold it any more.
    const letLockAge = async (name: string) => {
      const lock = join(at.dir, 'refs/heads', `${name}.lock`);
      await utimes(lock, 1, 1);
      await letHoursPass();
      t.false(existsSync(lock));
    };
    for (const delayMs of [30, 100, 250]) {
      const name = `after-${delayMs}`;
      branches.push(name);
      const first = at.tree.try('push', url(server), `HEAD:${name}`);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await server.cutPower();
      await first;
      server = await startServerProcess(t, holder.app);
      const again = () => at.tree.try('push', url(server), `HEAD:${name}`);
      let second = await again();
      if (second.stderr.includes(`heads/${name}.lock': File exists`)) {
        await letLockAge(name);
        second = await again();
      }
      t.is(second.code, 0, second.stderr);
    }
    await server.crash();
    await letHoursPass();
    const found = await consequences(at);
    t.deepEqual(found.pipelines, branches.sort());
    t.deepEqual(found.events, branches.map((name) => `refs/heads/${name}`).sort());
  },
);

test.serial('when only git is killed, the client is told nothing and the push stays recorded', async (t) => {
  const at = await scene(t);
  // Its worker would take the tasks that are looked at here.
  await at.server.crash();
  const here = { ...at, server: { ...at.server, url: holder.app.url } };
  const { socket, pack } = await beginPush(here);
  socket.write(pack.subarray(0, 20));
  await eventually(async () => (await incoming(at)).length > 0);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const pid of await gitsOf(process.pid)) signalGroup(pid, 'SIGKILL');
  socket.end();
  await closed;
  await holder.app.runTasks();
  t.is((await pushesOf(at.project)).length, 1);
  await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
  await holder.app.runAllTasks();
  t.deepEqual(await pushesOf(at.project), []);
  t.deepEqual(await consequences(at), nothing);
});
