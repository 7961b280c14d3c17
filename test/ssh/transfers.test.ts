import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import test from 'ava';
import type { ClientChannel } from 'ssh2';
import { flushPkt, pktLine } from '../../server/git/pkt-line.ts';
import { readRef } from '../../server/git/refs.ts';
import { eventually } from '../support/eventually.ts';
import { withPushes } from '../support/pushes.ts';
import { startServerProcess } from '../support/server-process.ts';
import { withSsh } from '../support/ssh.ts';
import { connect, exec, said } from '../support/ssh-client.ts';

const pushes = withPushes();
const { holder, trees } = pushes;
const place = withSsh(holder);
const mb = 1024 * 1024;

/** A project with a file that cannot be packed smaller, committed and not pushed. */
async function heavy(bytes: number) {
  const pushed = await pushes.filled();
  for (let start = 0; start < bytes; start += 8 * mb) {
    await pushed.tree.commit({ [`part-${start}`]: randomBytes(8 * mb) });
  }
  return { ...pushed, key: await place.ssh.keyOf(pushed.project.owner) };
}

/** The most memory that a process has had, in bytes. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

test.serial('64 MB are pushed and cloned without being held in memory', async (t) => {
  const { tree, dir, key, project } = await heavy(64 * mb);
  const server = await startServerProcess(t, holder.app, { ssh: true });
  const url = `ssh://git@127.0.0.1:${server.sshPort}/${project.fullPath}.git`;
  t.is((await place.ssh.git(tree.dir, key, 'ls-remote', url)).code, 0);
  const before = await peakOf(server.pid);
  const pushed = await place.ssh.git(tree.dir, key, 'push', '--quiet', url, 'master');
  t.is(pushed.code, 0, pushed.stderr);
  t.is(await readRef(dir, 'refs/heads/master'), await tree.head());
  const cloned = await place.ssh.git(await trees.folder(), key, 'clone', '--quiet', '--bare', url, '.');
  t.is(cloned.code, 0, cloned.stderr);
  const grown = (await peakOf(server.pid)) - before;
  t.true(grown < 48 * mb, `${Math.round(grown / mb)} MB`);
  t.log(`${Math.round(grown / mb)} MB more than before`);
});

/** What waits in this process for a client that takes nothing. */
async function windowOf(channel: ClientChannel, bytes: number): Promise<void> {
  const { _client, outgoing } = channel as unknown as {
    _client: { _protocol: { channelWindowAdjust(id: number, bytes: number): void } };
    outgoing: { id: number };
  };
  _client._protocol.channelWindowAdjust(outgoing.id, bytes);
}

test.serial('a client that grants gigabytes and takes nothing makes the server hold little', async (t) => {
  const { tree, key, project, url } = await heavy(32 * mb);
  await tree.git('push', '--quiet', url, 'master');
  const arrived = once(place.ssh.server.net, 'connection');
  const client = await connect(t, place.ssh.port, key);
  const [served] = (await arrived) as [Socket];
  const channel = await exec(client, `git-upload-pack '${project.fullPath}.git'`);
  await said(channel, '0000');
  await windowOf(channel, 2_000_000_000);
  const own = (client as unknown as { _sock: Socket })._sock;
  own.pause();
  channel.write(Buffer.concat([pktLine(`want ${await tree.head()}\n`), flushPkt, pktLine('done\n')]));
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, served.writableLength);
  }, 1);
  await eventually(() => most > mb);
  own.resume();
  let size = 0;
  for await (const chunk of channel) size += (chunk as Buffer).length;
  clearInterval(watch);
  t.true(size > 32 * mb);
  t.true(most < 4 * mb, `${most} bytes`);
});
