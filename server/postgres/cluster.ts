import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../data-dir.ts';
import { StartError } from '../start-error.ts';
import type { Account } from './account.ts';
import { type PostgresBinaries, runOptions } from './binaries.ts';

export const SUPERUSER = 'hearth';

const run = promisify(execFile);

export interface ClusterRequest {
  /** Folder that holds the cluster; private to the user of this process. */
  dir: string;
  cluster: string;
  binaries: PostgresBinaries;
  account: Account | null;
  password: string;
  /** Short folder that `account` can write to. */
  scratch: string;
  durable: boolean;
}

/**
 * How PostgreSQL has to be told its data folder, when it is started with that folder as working directory.
 * Another user may be unable to walk down to it (a home directory of mode 0700 above it), but the working
 * directory is entered before the user is changed and stays usable afterwards.
 */
export function dataFolder(cluster: string, account: Account | null): string {
  return account !== null && existsSync('/proc/self/cwd') ? '/proc/self/cwd' : cluster;
}

/** Makes the cluster when there is none; refuses one that these programs cannot open. */
export async function ensureCluster(request: ClusterRequest): Promise<void> {
  if (!existsSync(request.cluster)) return await createCluster(request);
  const { cluster, binaries } = request;
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => null); // judged below
  if (version === null) {
    throw new StartError(
      `${cluster} is not a complete PostgreSQL cluster (no PG_VERSION)`,
      'restore the data directory from a backup, or move this folder away to start with an empty database',
    );
  }
  if (version.trim() !== binaries.major) {
    throw new StartError(
      `the database in ${cluster} is of PostgreSQL ${version.trim()}, this Hearth brings ${binaries.major}`,
      'dump it with the Hearth it was made by (pg_dump) and restore it, or go back to that version',
    );
  }
}

/** Made aside and renamed, so that an interrupted first start leaves nothing that looks like a cluster. */
async function createCluster(request: ClusterRequest): Promise<void> {
  const aside = `${request.cluster}.new`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { mode: 0o700 });
  if (request.account) await chown(aside, request.account.uid, request.account.gid);
  await initdb(request, aside);
  await rename(aside, request.cluster);
  await syncFolder(request.dir);
}

async function initdb(request: ClusterRequest, folder: string): Promise<void> {
  const passwordFile = join(request.scratch, 'password');
  await writeFile(passwordFile, request.password, { mode: 0o600 });
  if (request.account) await chown(passwordFile, request.account.uid, request.account.gid);
  const options = { ...runOptions(request.binaries, request.account), cwd: folder };
  try {
    await run(request.binaries.initdb, initdbArguments(request, { folder, passwordFile }), options);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new StartError(
      `the database could not be created: ${stderr?.trim().replaceAll(/\s*\n\s*/g, '; ') || message}`,
      'see the reason above, or set DATABASE_URL to an existing PostgreSQL',
      error,
    );
  } finally {
    await rm(passwordFile, { force: true });
  }
}

function initdbArguments(request: ClusterRequest, paths: { folder: string; passwordFile: string }): string[] {
  return [
    `--pgdata=${dataFolder(paths.folder, request.account)}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${paths.passwordFile}`,
    '--auth=scram-sha-256',
    // The password is 256 random bits, which stretching does not make safer, only slower at each connection.
    '--set=scram_iterations=1',
    '--encoding=UTF8',
    // Order by code point, but upper and lower case of all scripts; the same on every system.
    '--locale=C',
    // Only extensions look at this one: pg_trgm finds no letters but ASCII's without it.
    '--lc-ctype=C.UTF-8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    ...(request.durable ? [] : ['--no-sync']),
  ];
}
