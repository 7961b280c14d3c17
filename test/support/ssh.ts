import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { readSshKey } from '../../server/actions/read-ssh-key.ts';
import { readHostKeys } from '../../server/ssh/host-keys.ts';
import type { SshLimits } from '../../server/ssh/limits.ts';
import { createSshServer, type SshServer } from '../../server/ssh/ssh-server.ts';
import type { TestApp } from './app.ts';
import { environment, type Ran, tryGit, withWorkTrees } from './git.ts';

const run = promisify(execFile);

/** A key pair of a client. */
export interface ClientKey {
  /** Path of the private key. */
  path: string;
  /** As it is added to an account. */
  line: string;
}

export interface SshPlace {
  server: SshServer;
  port: number;
  /** A new key that nobody has; arguments are those of ssh-keygen. */
  newKey(...args: string[]): Promise<ClientKey>;
  /** A new key of a user. */
  keyOf(user: { id: number }, ...args: string[]): Promise<ClientKey>;
  /** Adds a key to a user, or with null as a deploy key, and gives back its id. */
  add(line: string, userId: number | null): Promise<number>;
  /** Environment in which git connects with the key; more options are those of ssh, and win. */
  env(key: { path: string } | null, ...options: string[]): Record<string, string>;
  url(fullPath: string): string;
  git(cwd: string, key: ClientKey, ...args: string[]): Promise<Ran>;
  /** Runs a command, or without one asks for a shell, over the real client. */
  ssh(key: { path: string } | null, command: string[], options?: string[]): Promise<Ran>;
}

const quiet = [
  ['-F', '/dev/null'],
  ['-o', 'StrictHostKeyChecking=no'],
  ['-o', 'UserKnownHostsFile=/dev/null'],
  ['-o', 'GlobalKnownHostsFile=/dev/null'],
  ['-o', 'LogLevel=ERROR'],
  ['-o', 'IdentitiesOnly=yes'],
  ['-o', 'IdentityAgent=none'],
].flat();

/** Serves SSH for the application of a test file. Call after `withApp`. */
export function withSsh(holder: { app: TestApp }, limits: Partial<SshLimits> = {}): { ssh: SshPlace } {
  const trees = withWorkTrees();
  const place = {} as { ssh: SshPlace };
  test.serial.before(async () => {
    const server = createSshServer(holder.app.services, {
      hostKeys: await readHostKeys(await trees.folder()),
      limits: { connections: 1000, perAddress: 1000, ...limits },
    });
    await new Promise<void>((resolve) => server.net.listen(0, '127.0.0.1', resolve));
    const { port } = server.net.address() as AddressInfo;
    holder.app.services.sshPort = port;
    const { close } = holder.app;
    // What still runs over SSH needs the rest of the application.
    holder.app.close = async () => {
      await server.close(0);
      await close();
    };
    place.ssh = clientOf(holder.app, { server, port, folder: trees.folder });
  });
  return place;
}

interface Served {
  server: SshServer;
  port: number;
  folder(): Promise<string>;
}

function clientOf(app: TestApp, { server, port, folder }: Served): SshPlace {
  async function newKey(...args: string[]): Promise<ClientKey> {
    const path = join(await folder(), 'key');
    const kind = args.length > 0 ? args : ['-t', 'ed25519'];
    await run('ssh-keygen', ['-q', '-N', '', '-C', 'a test', '-f', path, ...kind]);
    return { path, line: (await readFile(`${path}.pub`, 'utf8')).trim() };
  }
  async function add(line: string, userId: number | null): Promise<number> {
    const read = readSshKey(line);
    if ('faults' in read) throw new Error(JSON.stringify(read.faults));
    const [row] = await app.rows<{ id: number }>(
      `insert into keys (user_id, title, key, fingerprint, fingerprint_sha256) values ($1, 'a key', $2, $3, $4)
       returning id`,
      [userId, read.key.text, read.key.fingerprint, read.key.fingerprintSha256],
    );
    return row?.id ?? 0;
  }
  const identity = (key: { path: string } | null) =>
    key ? ['-i', key.path] : ['-o', 'PubkeyAuthentication=no'];
  const env = (key: { path: string } | null, ...options: string[]) => ({
    GIT_SSH_COMMAND: ['ssh', ...options, ...quiet, ...identity(key)].join(' '),
    GIT_SSH_VARIANT: 'ssh',
  });
  return {
    server,
    port,
    newKey,
    add,
    env,
    async keyOf(user, ...args) {
      const key = await newKey(...args);
      await add(key.line, user.id);
      return key;
    },
    url: (fullPath) => `ssh://git@127.0.0.1:${port}/${fullPath}.git`,
    git: (cwd, key, ...args) => tryGit(cwd, args, env(key)),
    ssh(key, command, options = []) {
      const args = [...options, ...quiet, ...identity(key), '-p', String(port), 'git@127.0.0.1', ...command];
      return tryProgram('ssh', args);
    },
  };
}

/** Runs a program in the environment of a client. */
export function tryProgram(program: string, args: string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}
