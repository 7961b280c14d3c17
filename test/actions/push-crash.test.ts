import { readdir, utimes } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { listRefs, readRef } from '../../server/git/refs.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { cloneUrl, gitWithInput, type WorkTree, withWorkTrees } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';
import { gitsOf, killGroup, type ServerProcess, startServerProcess } from '../support/server-process.ts';

const holder = withApp({ poolSize: 3 });
const trees = withWorkTrees();

interface Scene {
  project: MadeProject;
  dir: string;
  tree: WorkTree;
  /** The commit that is pushed. */
  sha: string;
  server: ServerProcess;
}

/** A project with a master, a commit with a CI file that is to be pushed, and a server that is going to crash. */
async function scene(t: ExecutionContext): Promise<Scene> {
  const { app } = holder;
  const project = await app.make.project();
  const tree = await trees.fresh();
  await tree.commit();
  await tree.git('push', '--quiet', cloneUrl(app, project, { password: project.owner.token }), 'master');
  const sha = await tree.commit({ '.gitlab-ci.yml': 'compile: {script: make}' });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  return { project, dir, tree, sha, server: await startServerProcess(t, app) };
}

/** A push in pieces: the commands at once, the pack when it is asked for. */
async function beginPush({
  project,
  tree,
  sha,
  server,
}: Scene): Promise<{ socket: ClientRequest; pack: Buffer }> {
  const socket = request(`${server.url}/${project.fullPath}.git/git-receive-pack`, {
    method: 'POST',
    auth: `x:${project.owner.token}`,
  });
  socket.on('error', () => undefined);
  socket.on('response', (response) => response.on('error', () => undefined).resume());
  const command = pktLine(`${zeroSha} ${sha} refs/heads/side\0report-status`);
  socket.write(Buffer.concat([command, Buffer.from('0000')]));
  await eventually(async () => (await pushesOf(project)).length === 1);
  return {
    socket,
    pack: await gitWithInput(tree.dir, ['pack-objects', '--stdout', '--revs', '-q'], `${sha}\n`),
  };
}

function pushesOf({ id }: { id: number }): Promise<{ id: number }[]> {
  return holder.app.rows('select id from pushes where project_id = $1', [id]);
}

/** Refs of the pipelines and of the events beside master, in order. */
async function consequences({ project: { id } }: Scene): Promise<{ pipelines: string[]; events: string[] }> {
  const { rows } = holder.app;
  const pipelines = await rows<{ ref: string }>('select ref from pipelines where project_id = $1', [id]);
  const events = await rows<{ ref: string }>(
    `select ref from events where project_id = $1 and ref <> 'refs/heads/master'`,
    [id],
  );
  return { pipelines: pipelines.map(({ ref }) => ref).sort(), events: events.map(({ ref }) => ref).sort() };
}

/** Holds a lock in the database until the test lets go of it. */
async function hold(t: ExecutionContext, statement: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: holder.app.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query(statement, values);
  const release = () => client.end();
  t.teardown(release);
  return { release };
}

async function somebodyWaits(): Promise<boolean> {
  const rows = await holder.app.rows(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

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

async function incoming({ dir }: Scene): Promise<string[]> {
  return (await readdir(join(dir, 'objects'))).filter((name) => /incoming/.test(name));
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
    await holder.app.runAllTasks();
    await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
    await holder.app.runAllTasks();
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
    for (const delayMs of [30, 100, 250]) {
      const name = `after-${delayMs}`;
      branches.push(name);
      const first = at.tree.try('push', url(server), `HEAD:${name}`);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await server.cutPower();
      await first;
      server = await startServerProcess(t, holder.app);
      const second = await at.tree.try('push', url(server), `HEAD:${name}`);
      t.is(second.code, 0, second.stderr);
    }
    await server.crash();
    await holder.app.runAllTasks();
    await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
    await holder.app.runAllTasks();
    const found = await consequences(at);
    t.deepEqual(found.pipelines, branches.sort());
    t.deepEqual(found.events, branches.map((name) => `refs/heads/${name}`).sort());
  },
);

test.serial('when only git is killed, the client is told nothing and the push stays recorded', async (t) => {
  const at = await scene(t);
  const here = { ...at, server: { ...at.server, url: holder.app.url } };
  const { socket, pack } = await beginPush(here);
  socket.write(pack.subarray(0, 20));
  await eventually(async () => (await incoming(at)).length > 0);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const pid of await gitsOf(process.pid)) killGroup(pid);
  socket.end();
  await closed;
  await holder.app.runTasks();
  t.is((await pushesOf(at.project)).length, 1);
  await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
  await holder.app.runAllTasks();
  t.deepEqual(await pushesOf(at.project), []);
  t.deepEqual(await consequences(at), nothing);
});
