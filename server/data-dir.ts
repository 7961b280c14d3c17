import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { takeLock } from './process-lock.ts';
import { StartError } from './start-error.ts';

export interface DataDir {
  /** Absolute. */
  path: string;
  /** Lets another process open it. Safe to call twice. */
  release(): Promise<void>;
}

/**
 * Opens the data directory for this process alone, creating it when it is missing.
 * @throws StartError when it cannot be written or another process has it open
 */
export async function openDataDir(path: string): Promise<DataDir> {
  const absolute = resolve(path);
  try {
    await mkdir(absolute, { recursive: true, mode: 0o700 });
    await access(absolute, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(
      `the data directory ${absolute} cannot be used: ${(error as Error).message}`,
      'set HEARTH_DATA_DIR to a directory this user can write to',
      error,
    );
  }
  const lock = await takeLock(join(absolute, 'lock'));
  if (lock.heldBy !== null) {
    throw new StartError(
      `another Hearth (process ${lock.heldBy}) already uses the data directory ${absolute}`,
      'stop it first, or set HEARTH_DATA_DIR to another directory',
    );
  }
  return { path: absolute, release: lock.release };
}

/**
 * A random secret that is made once and kept in a file only this user can read.
 * @returns hexadecimal text of `bytes` random bytes, or what the file holds already
 */
export async function readOrCreateSecret({
  dir,
  name,
  bytes,
}: {
  dir: string;
  name: string;
  bytes: number;
}): Promise<string> {
  const create = async () => `${randomBytes(bytes).toString('hex')}\n`;
  return (await readOrCreateFile({ dir, name, create })).trim();
}

/**
 * A text that is made once and kept in a file only this user can read. Of several processes that make it at once, all
 * get the same.
 * @throws StartError for a file with nothing in it
 */
export async function readOrCreateFile(file: {
  dir: string;
  name: string;
  create: () => Promise<string>;
}): Promise<string> {
  const path = join(file.dir, file.name);
  const existing = await readSecret(path);
  if (existing !== null) return existing;
  const text = await file.create();
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    // A link, not a rename: when two processes get here, both have to use the one that came first.
    await link(aside, path).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await handle.close();
    await rm(aside, { force: true });
  }
  await syncFolder(file.dir);
  return (await readSecret(path)) ?? '';
}

async function readSecret(path: string): Promise<string | null> {
  try {
    const text = await readFile(path, 'utf8');
    if (text.trim() !== '') return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  throw new StartError(`the secret in ${path} is empty`, 'restore the file from a backup');
}

/** Makes names that were just created or changed in a folder survive a crash of the machine. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
