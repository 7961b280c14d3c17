import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { readRef } from '../../server/git/refs.ts';
import { readHostKeys } from '../../server/ssh/host-keys.ts';
import { createSshServer } from '../../server/ssh/ssh-server.ts';
import { eventually } from '../support/eventually.ts';
import { withPushes } from '../support/pushes.ts';
import { gitsOf } from '../support/server-process.ts';
import { withSsh } from '../support/ssh.ts';
import { connect, ending, exec, pushOf, said } from '../support/ssh-client.ts';

const pushes = withPushes();
const { holder, trees } = pushes;
const place = withSsh(holder);

/** A client that has read the refs, and what it would push. */
async function atWork(t: Parameters<typeof connect>[0], port = place.ssh.port) {
  const pushed = await pushes.filled();
  const key = await place.ssh.keyOf(pushed.project.owner);
  await pushed.tree.commit({ large: randomBytes(1_000_000) });
  const client = await connect(t, port, key);
  const channel = await exec(client, `git-receive-pack '${pushed.project.fullPath}.git'`);
  await said(channel, '0000');
  return { ...pushed, client, channel, push: await pushOf(pushed.tree, 'mine') };
}

test.serial('a client that dies in the middle of its pack leaves nothing behind', async (t) => {
  const { client, channel, push, project, dir } = await atWork(t);
  const before = (await pushes.pipelines(project)).length;
  channel.write(Buffer.concat([push.commands, push.pack.subarray(0, push.pack.length / 2)]));
  await eventually(async () => (await gitsOf(process.pid)).length > 0);
  client.destroy();
  await eventually(async () => (await pushes.outstanding(project)) === 0);
  t.deepEqual(await gitsOf(process.pid), []);
  t.is(await readRef(dir, 'refs/heads/mine'), null);
  t.deepEqual(
    (await readdir(join(dir, 'objects'))).filter((name) => name.startsWith('tmp_objdir')),
    [],
  );
  t.is((await pushes.pipelines(project)).length, before);
});

test.serial(
  'a push whose refs have moved has its consequences, though nobody waits for the end',
  async (t) => {
    const { client, channel, push, project, dir, tree } = await atWork(t);
    channel.end(Buffer.concat([push.commands, push.pack]));
    await once(channel, 'data');
    client.destroy();
    await eventually(async () => (await pushes.outstanding(project)) === 0);
    t.is(await readRef(dir, 'refs/heads/mine'), await tree.head());
    t.is((await pushes.pipelines(project)).filter(({ ref }) => ref === 'mine').length, 1);
  },
);

test.serial(
  'of a client that leaves as soon as it has sent all, the push is done wholly or not at all',
  async (t) => {
    const { client, channel, push, project, dir } = await atWork(t);
    channel.end(Buffer.concat([push.commands, push.pack]));
    client.end();
    await once(client, 'close');
    await eventually(async () => (await gitsOf(process.pid)).length === 0);
    await eventually(async () => (await pushes.outstanding(project)) === 0);
    const isMoved = (await readRef(dir, 'refs/heads/mine')) !== null;
    const pipelines = (await pushes.pipelines(project)).filter(({ ref }) => ref === 'mine');
    t.is(pipelines.length, isMoved ? 1 : 0);
  },
);

test.serial('what is no push is told so, and nothing is begun', async (t) => {
  const { channel, project } = await atWork(t);
  const end = ending(channel);
  channel.end('000bnonsense');
  t.is((await end).code, 1);
  t.is(await pushes.outstanding(project), 0);
});

test.serial('a server that stops lets a push end, and lets nobody else in', async (t) => {
  const server = createSshServer(holder.app.services, { hostKeys: await readHostKeys(await trees.folder()) });
  await new Promise<void>((resolve) => server.net.listen(0, '127.0.0.1', resolve));
  const address = server.net.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const { client, channel, push, project, dir, tree } = await atWork(t, port);
  const idle = await connect(t, port, await place.ssh.keyOf(project.owner));
  const gone = once(idle, 'close');
  channel.write(push.commands);
  await eventually(async () => (await gitsOf(process.pid)).length > 0);
  const closed = server.close(60_000);
  await gone;
  await t.throwsAsync(exec(client, 'git-upload-pack x/y'));
  const other = await place.ssh.ssh(await place.ssh.newKey(), [], ['-p', String(port)]);
  t.regex(other.stderr, /refused/);
  const end = ending(channel);
  channel.end(push.pack);
  t.like(await end, { code: 0 });
  await closed;
  t.is(await readRef(dir, 'refs/heads/mine'), await tree.head());
});
