import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StartError } from '../start-error.ts';

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
/** Sessions notice at once that their PostgreSQL is gone, unless they are in the middle of some work. */
const ORPHANS_MS = 1000;

/**
 * Stops a PostgreSQL that outlived its Hearth (kill -9), or what is left of one that was killed itself, and still
 * works in this cluster. The caller holds the lock of the data directory, so nobody else can be using it. Gives
 * the number of processes that were found.
 */
export async function stopLeftover(cluster: string): Promise<number> {
  const pidFile = join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile) || !existsSync('/proc/self/stat')) return 0; // elsewhere PostgreSQL's own check remains
  const found = await processesOf(cluster);
  if (found.length > 0) await stopAll({ cluster, pidFile, found });
  // Its number may belong to an unrelated process by now, which PostgreSQL would take for itself.
  await rm(pidFile, { force: true });
  return found.length;
}

async function stopAll(leftover: { cluster: string; pidFile: string; found: number[] }): Promise<void> {
  const main = Number.parseInt(await readFile(leftover.pidFile, 'utf8').catch(() => ''), 10); // it may just end
  const isWhole = leftover.found.includes(main); // else only sessions are left; they end by themselves
  if (isWhole) signal(main, 'SIGINT');
  if (await allEnd(leftover.cluster, isWhole ? FAST_SHUTDOWN_MS : ORPHANS_MS)) return;
  for (const pid of await processesOf(leftover.cluster)) signal(pid, 'SIGQUIT');
  if (await allEnd(leftover.cluster, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new StartError(
    `an older PostgreSQL still runs in ${leftover.cluster} (process ${leftover.found.join(', ')})`,
    'end that process, then start again',
  );
}

async function allEnd(cluster: string, limitMs: number): Promise<boolean> {
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    if ((await processesOf(cluster)).length === 0) return true;
    await wait(20); // processes of others give no event when they end
  }
  return false;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Every process of PostgreSQL keeps the data folder as its working directory, which identifies it safely. */
async function processesOf(cluster: string): Promise<number[]> {
  const { dev, ino } = await stat(cluster);
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const cwd = await stat(`/proc/${entry}/cwd/`);
      if (cwd.dev !== dev || cwd.ino !== ino) continue;
      if (basename(await readlink(`/proc/${entry}/exe`)).startsWith('postgres')) found.push(Number(entry));
    } catch {
      // ended meanwhile, or of another user, and then it is not ours
    }
  }
  return found;
}
