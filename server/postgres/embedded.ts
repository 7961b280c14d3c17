import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { readOrCreateSecret } from '../data-dir.ts';
import { StartError } from '../start-error.ts';
import { type Account, postgresAccount } from './account.ts';
import { postgresBinaries } from './binaries.ts';
import { ensureCluster, SUPERUSER } from './cluster.ts';
import { stopLeftover } from './leftover.ts';
import { type LaunchRequest, launchServer, type PostgresLog, type ServerProcess } from './server-process.ts';
import { makeSocketFolder, removeSocketFolder } from './socket-folder.ts';

export interface EmbeddedPostgres extends ServerProcess {
  /** For `pg` and everything built on it; the user in it is a superuser of this cluster. */
  url: string;
  /**
   * Once it has ended: starts it again, to be reached as before. What is left of it is ended first.
   * @throws StartError when PostgreSQL ends again before it takes connections, also because `signal` fires
   */
  relaunch(signal: AbortSignal): Promise<ServerProcess>;
}

export interface EmbeddedRequest {
  /** Folder for everything PostgreSQL needs to keep. Nobody else may use it meanwhile: hold the data directory's lock. */
  dir: string;
  /** False only for throw-away databases: a crash of the machine then loses or breaks them. */
  durable: boolean;
  log: PostgresLog;
}

const DATABASE = 'hearth';

/**
 * Starts the PostgreSQL of the installed packages, reachable only through a socket in a private folder, and
 * creates cluster and database on the first start. A PostgreSQL left over in `dir` is stopped before.
 * @throws StartError when the cluster is unusable or PostgreSQL cannot run here
 */
export async function startEmbeddedPostgres(request: EmbeddedRequest): Promise<EmbeddedPostgres> {
  const { durable, log } = request;
  const dir = resolve(request.dir);
  const cluster = join(dir, 'cluster');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const account = await postgresAccount(cluster);
  const binaries = await postgresBinaries(account, copyParents(dir, account));
  const password = await clusterPassword(dir, cluster);
  if (existsSync(cluster) && (await stopLeftover(cluster)) > 0) {
    log.warn('stopped a PostgreSQL that an earlier Hearth had left running');
  }
  await removeSocketFolder(dir);
  const socketDir = await makeSocketFolder(dir, account);
  try {
    await ensureCluster({ dir, cluster, binaries, account, password, scratch: socketDir, durable });
    const launch = { cluster, socketDir, durable, binaries, account, log };
    const server = withoutFolder(await launchServer(launch), dir);
    const base = `postgres://${SUPERUSER}:${password}@${encodeURIComponent(socketDir)}`;
    await ensureDatabase(`${base}/postgres`).catch((error) =>
      server.stop().then(() => Promise.reject(error)),
    );
    return {
      ...server,
      url: `${base}/${DATABASE}`,
      relaunch: (signal) => relaunch(dir, { ...launch, signal }),
    };
  } catch (error) {
    await removeSocketFolder(dir);
    throw error;
  }
}

/** Its socket's folder goes with it. */
function withoutFolder(server: ServerProcess, dir: string): ServerProcess {
  return { ...server, stop: () => server.stop().then(() => removeSocketFolder(dir)) };
}

async function relaunch(dir: string, launch: LaunchRequest): Promise<ServerProcess> {
  await stopLeftover(launch.cluster);
  return withoutFolder(await launchServer(launch), dir);
}

/** Where a copy of the programs may go. For root it has to be a place that every user can read. */
function copyParents(dir: string, account: Account | null): string[] {
  return account ? ['/var/cache/hearth', join(tmpdir(), 'hearth-programs')] : [join(dir, 'programs')];
}

async function clusterPassword(dir: string, cluster: string): Promise<string> {
  if (existsSync(cluster) && !existsSync(join(dir, 'password'))) {
    throw new StartError(
      `the password of the database in ${cluster} is missing (${join(dir, 'password')})`,
      'restore that file from a backup, or move the folder away to start with an empty database',
    );
  }
  return await readOrCreateSecret({ dir, name: 'password', bytes: 32 });
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  try {
    await client.connect();
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } catch (error) {
    throw new StartError(
      `the database server was started but cannot be used: ${(error as Error).message}`,
      'if its password file was replaced, restore it from a backup',
      error,
    );
  } finally {
    await client.end();
  }
}
