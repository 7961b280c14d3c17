import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../server/postgres/embedded.ts';
import { StartError } from '../../../server/start-error.ts';
import { killHard, startProgram } from '../../support/child-program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HOLDER = `
  import { startEmbeddedPostgres } from './server/postgres/embedded.ts';
  const log = { debug() {}, warn() {}, error() {} };
  const postgres = await startEmbeddedPostgres({ dir: process.argv[1], durable: false, log });
  console.log(postgres.pid);
  console.log(postgres.url);
`;

interface Started extends EmbeddedPostgres {
  warnings: string[];
}

async function start(t: ExecutionContext, dir: string, durable = false): Promise<Started> {
  const warnings: string[] = [];
  const log = {
    debug() {},
    warn: (text: string) => warnings.push(text),
    error: (text: string) => t.log(text),
  };
  const postgres = await startEmbeddedPostgres({ dir, durable, log });
  t.teardown(() => postgres.stop());
  return { ...postgres, warnings };
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is shut down under the client tells so by an event; what counts here is the next query.
  client.on('error', () => {});
  await client.connect();
  return await client.query(text).then(
    async ({ rows }) => client.end().then(() => rows),
    async (error) => client.end().then(() => Promise.reject(error)),
  );
}

function socketFolder(url: string): string {
  return decodeURIComponent(new URL(url).hostname);
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`) || (!existsSync('/proc') && process.kill(pid, 0));
}

test('the database is there, knows all scripts and can be reached through its socket only', async (t) => {
  const postgres = await start(t, await temporaryFolder(t));
  const [row] = await query(
    postgres.url,
    `SELECT current_database() AS name, upper('äж') AS upper, 'B' < 'a' AS by_code,
       current_setting('listen_addresses') AS tcp, current_setting('server_encoding') AS encoding`,
  );
  t.deepEqual(row, { name: 'hearth', upper: 'ÄЖ', by_code: true, tcp: '', encoding: 'UTF8' });
  t.is((await stat(socketFolder(postgres.url))).mode & 0o777, 0o700);
});

test('a connection without the password is refused', async (t) => {
  const dir = await temporaryFolder(t);
  const postgres = await start(t, dir);
  const wrong = postgres.url.replace(/:[0-9a-f]{64}@/, ':guess@');
  await t.throwsAsync(query(wrong, 'SELECT 1'), { message: /password authentication failed/ });
  t.is((await stat(join(dir, 'password'))).mode & 0o777, 0o600);
});

test('stopping ends sessions and processes, removes the socket and keeps the data', async (t) => {
  const dir = await temporaryFolder(t);
  const first = await start(t, dir);
  await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS value');
  const session = query(first.url, 'SELECT pg_sleep(600)');
  const ended = t.throwsAsync(session);
  await first.stop();
  await ended;
  t.false(isRunning(first.pid));
  t.false(existsSync(socketFolder(first.url)));
  t.regex(await first.exited, /exit code 0/);
  const second = await start(t, dir);
  t.deepEqual(await query(second.url, 'SELECT value FROM kept'), [{ value: 7 }]);
});

test('a PostgreSQL that outlived its killed server is stopped by the next start', async (t) => {
  const dir = await temporaryFolder(t);
  const program = startProgram(t, { text: HOLDER, args: [dir] });
  const pid = Number(await program.nextLine());
  const url = (await program.nextLine()) ?? '';
  await query(url, 'CREATE TABLE kept AS SELECT 7 AS value');
  await killHard(program);
  t.true(isRunning(pid));
  const next = await start(t, dir);
  t.false(isRunning(pid));
  t.deepEqual(await query(next.url, 'SELECT value FROM kept'), [{ value: 7 }]);
  t.false(existsSync(socketFolder(url)));
  t.deepEqual(next.warnings, ['stopped a PostgreSQL that an earlier Hearth had left running']);
});

test('after a crash of PostgreSQL the next start recovers', async (t) => {
  const dir = await temporaryFolder(t);
  const first = await start(t, dir, true);
  await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS value');
  process.kill(first.pid, 'SIGKILL');
  t.regex(await first.exited, /SIGKILL/);
  const second = await start(t, dir);
  t.deepEqual(await query(second.url, 'SELECT value FROM kept'), [{ value: 7 }]);
});

test('a process file that names a living stranger does not block the start', async (t) => {
  const dir = await temporaryFolder(t);
  const first = await start(t, dir);
  const pidFile = join(dir, 'cluster', 'postmaster.pid');
  const lines = (await readFile(pidFile, 'utf8')).split('\n');
  await first.stop();
  const stranger = startProgram(t, { text: 'console.log(1); setInterval(() => {}, 60_000)', args: [] });
  await stranger.nextLine();
  await writeFile(pidFile, [stranger.child.pid, ...lines.slice(1)].join('\n'));
  const second = await start(t, dir);
  t.deepEqual(await query(second.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  t.is(stranger.child.exitCode ?? stranger.child.signalCode, null);
});

test('a first start that was interrupted is begun anew', async (t) => {
  const dir = await temporaryFolder(t);
  await mkdir(join(dir, 'cluster.new', 'base'), { recursive: true });
  await writeFile(join(dir, 'cluster.new', 'PG_VERSION'), '18\n');
  const postgres = await start(t, dir);
  t.deepEqual(await query(postgres.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  t.false((await readdir(dir)).includes('cluster.new'));
});

test('a cluster of another version, a broken one and a lost password are refused with advice', async (t) => {
  const dir = await temporaryFolder(t);
  await (await start(t, dir)).stop();
  const cluster = join(dir, 'cluster');
  const refusal = async () => (await t.throwsAsync(start(t, dir), { instanceOf: StartError })) as StartError;

  await rename(join(dir, 'password'), join(dir, 'saved'));
  t.regex((await refusal()).message, /password .* is missing/);
  await rename(join(dir, 'saved'), join(dir, 'password'));

  await rename(join(cluster, 'global', 'pg_control'), join(cluster, 'saved'));
  const broken = await refusal();
  t.regex(broken.message, /cannot be started.*pg_control/);
  t.regex(broken.advice, /backup/);

  await writeFile(join(cluster, 'PG_VERSION'), '13\n');
  t.regex((await refusal()).message, /PostgreSQL 13, this Hearth brings 18/);

  await rm(join(cluster, 'PG_VERSION'));
  t.regex((await refusal()).message, /not a complete PostgreSQL cluster/);
  t.false((await readdir(dir)).includes('socket-folder'));
});
