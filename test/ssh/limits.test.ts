import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { readHostKeys } from '../../server/ssh/host-keys.ts';
import type { SshLimits } from '../../server/ssh/limits.ts';
import { createSshServer } from '../../server/ssh/ssh-server.ts';
import { withPushes } from '../support/pushes.ts';
import { withSsh } from '../support/ssh.ts';
import { connect, ending, exec, said } from '../support/ssh-client.ts';

const pushes = withPushes();
const { holder, trees } = pushes;
const place = withSsh(holder);
let hostKeys: string[] = [];

test.before(async () => {
  hostKeys = await readHostKeys(await trees.folder());
});

/** A server with limits of its own. */
async function serve(t: ExecutionContext, limits: Partial<SshLimits>) {
  const server = createSshServer(holder.app.services, { hostKeys, limits });
  t.teardown(() => server.close(0));
  await new Promise<void>((resolve) => server.net.listen(0, '127.0.0.1', resolve));
  return { net: server.net, port: (server.net.address() as AddressInfo).port };
}

async function limited(t: ExecutionContext, limits: Partial<SshLimits>): Promise<number> {
  return (await serve(t, limits)).port;
}

/** A connection that has got its first line. */
async function visit(t: ExecutionContext, port: number) {
  const socket = connectTcp(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const [line] = await once(socket, 'data');
  return { socket, closed, line: String(line).trim() };
}

for (const limit of ['connections', 'perAddress', 'strangers'] as const) {
  test(`connections beyond the limit for ${limit} are told so and closed, until another one ends`, async (t) => {
    const port = await limited(t, { [limit]: 2 });
    const first = await visit(t, port);
    t.is(first.line, 'SSH-2.0-Hearth');
    t.is((await visit(t, port)).line, 'SSH-2.0-Hearth');
    const third = await visit(t, port);
    t.is(third.line, 'Too many connections. Try again later.');
    await third.closed;
    first.socket.destroy();
    await first.closed;
    let { line } = await visit(t, port);
    while (line !== 'SSH-2.0-Hearth') ({ line } = await visit(t, port));
    t.pass();
  });
}

test('who has signed in is no stranger any more', async (t) => {
  const port = await limited(t, { strangers: 1 });
  const key = await place.ssh.keyOf(await holder.app.make.user());
  await connect(t, port, key);
  await connect(t, port, key);
  t.is((await visit(t, port)).line, 'SSH-2.0-Hearth');
});

test('who does not sign in in time is closed, at whatever point', async (t) => {
  const port = await limited(t, { graceMs: 300 });
  const silent = await visit(t, port);
  const begun = await visit(t, port);
  begun.socket.write('SSH-2.0-somebody\r\n');
  await Promise.all([silent.closed, begun.closed]);
  t.pass();
});

test('one connection offers so many keys and no more', async (t) => {
  const port = await limited(t, { offers: 4 });
  const key = await place.ssh.keyOf(await holder.app.make.user());
  const others = await Promise.all(Array.from({ length: 4 }, () => place.ssh.newKey()));
  const attempt = (count: number) => {
    const before = others.slice(0, count).flatMap(({ path }) => ['-i', path]);
    return place.ssh.ssh(key, [], ['-p', String(port), ...before]);
  };
  t.is((await attempt(2)).code, 0);
  t.is((await attempt(4)).code, 255);
});

test('one connection has so many sessions and no more', async (t) => {
  const port = await limited(t, { sessions: 2 });
  const { project } = await pushes.filled();
  const client = await connect(t, port, await place.ssh.keyOf(project.owner));
  const command = `git-upload-pack '${project.fullPath}'`;
  const first = await exec(client, command);
  await exec(client, command);
  await t.throwsAsync(exec(client, command));
  await said(first, '0000');
  const end = ending(first);
  first.end('0000');
  t.is((await end).code, 0);
  await said(await exec(client, command), '0000');
});

test('a connection that does nothing is closed, and a command in which nothing moves is ended', async (t) => {
  const { project } = await pushes.filled();
  const key = await place.ssh.keyOf(project.owner);
  const idle = await connect(t, await limited(t, { idleMs: 200 }), key);
  await once(idle, 'close');
  const client = await connect(t, await limited(t, { stallMs: 1_000 }), key);
  for (const service of ['git-receive-pack', 'git-upload-pack']) {
    const channel = await exec(client, `${service} '${project.fullPath}'`);
    t.is((await ending(channel)).code, 1);
  }
});

test('a client that gives no sign of life is gone', async (t) => {
  const server = await serve(t, { keepAliveMs: 50 });
  const arrived = once(server.net, 'connection');
  const client = await connect(t, server.port, await place.ssh.keyOf(await holder.app.make.user()));
  const [socket] = await arrived;
  (client as unknown as { _sock: Socket })._sock.pause();
  await once(socket, 'close');
  t.pass();
});

test('many clients at once are all served', async (t) => {
  const { project, sha } = await pushes.filled();
  const key = await place.ssh.keyOf(project.owner);
  const folder = await trees.folder();
  const url = place.ssh.url(project.fullPath);
  const asked = Array.from({ length: 24 }, () => place.ssh.git(folder, key, 'ls-remote', url, 'master'));
  for (const { stdout } of await Promise.all(asked)) t.is(stdout.split('\t')[0], sha);
});
