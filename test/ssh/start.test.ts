import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import test from 'ava';
import pino from 'pino';
import { readConfig } from '../../server/config.ts';
import { startServer } from '../../server/serve.ts';
import { withApp } from '../support/app.ts';
import { startServerProcess } from '../support/server-process.ts';
import { tryProgram } from '../support/ssh.ts';

const holder = withApp();

async function keysOf(port: number): Promise<string[]> {
  const { stdout } = await tryProgram('ssh-keyscan', ['-p', String(port), '127.0.0.1']);
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.split(' ').slice(1).join(' ')).sort();
}

test.serial(
  'a server is known by the same keys after a crash, and names its port in clone URLs',
  async (t) => {
    const first = await startServerProcess(t, holder.app, { ssh: true });
    const keys = await keysOf(first.sshPort);
    t.deepEqual(
      keys.map((key) => key.split(' ')[0]),
      ['ssh-ed25519', 'ssh-rsa'],
    );
    await first.crash();
    const second = await startServerProcess(t, holder.app, { ssh: true });
    t.deepEqual(await keysOf(second.sshPort), keys);
    const project = await holder.app.make.project();
    const answer = await fetch(`${second.url}/api/v3/projects/${project.id}`, {
      headers: { 'PRIVATE-TOKEN': project.owner.token },
    });
    const { ssh_url_to_repo } = (await answer.json()) as { ssh_url_to_repo: string };
    t.is(ssh_url_to_repo, `ssh://git@127.0.0.1:${second.sshPort}/${project.fullPath}.git`);
  },
);

test.serial('a taken port stops the start, and the setting is named', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const read = readConfig({
    HEARTH_DATA_DIR: dirname(holder.app.services.repositoriesDir),
    HEARTH_LISTEN: '127.0.0.1:0',
    HEARTH_SSH_LISTEN: taken,
  });
  if ('faults' in read) throw new Error(read.faults.join('\n'));
  await t.throwsAsync(startServer(read.config, holder.app.databaseUrl, pino({ level: 'silent' })), {
    name: 'StartError',
    message: `the address ${taken} is in use`,
  });
});
