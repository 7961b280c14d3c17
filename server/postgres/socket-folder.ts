import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { StartError } from '../start-error.ts';
import type { Account } from './account.ts';

const PREFIX = 'hearth-pg-';
/** Bytes that a socket's path may have on every system; PostgreSQL's socket is a 14 byte name in the folder. */
const LONGEST_FOLDER = 103 - '/.s.PGSQL.5432'.length;

/**
 * A new private folder for the socket, owned by `account`. Its path is kept in `dir`, so that the next start can
 * remove it when this process gets no chance to.
 */
export async function makeSocketFolder(dir: string, account: Account | null): Promise<string> {
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])) {
    if (Buffer.byteLength(join(parent, PREFIX)) + 6 > LONGEST_FOLDER) continue;
    if (account && !(await isOpenToAll(parent))) continue;
    const folder = await mkdtemp(join(parent, PREFIX)).catch(() => null); // read-only or missing: try the next one
    if (folder === null) continue;
    if (account) await chown(folder, account.uid, account.gid);
    await writeFile(record(dir), folder, { mode: 0o600 });
    return folder;
  }
  throw new StartError(
    'no temporary folder can hold the socket of PostgreSQL',
    'set TMPDIR to a writable folder with a short path',
  );
}

/** Removes what an earlier start left behind. */
export async function removeSocketFolder(dir: string): Promise<void> {
  const folder = await readFile(record(dir), 'utf8').catch(() => null); // none was left
  if (folder === null) return;
  if (basename(folder).startsWith(PREFIX)) await rm(folder, { recursive: true, force: true });
  await rm(record(dir), { force: true });
}

function record(dir: string): string {
  return join(dir, 'socket-folder');
}

async function isOpenToAll(path: string): Promise<boolean> {
  const mode = await stat(path).then(
    (found) => found.mode,
    () => 0, // missing is as good as closed
  );
  if ((mode & 0o001) === 0) return false;
  return path === dirname(path) || (await isOpenToAll(dirname(path)));
}
