import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

export type ProcessLock =
  | { heldBy: null; release(): Promise<void> }
  /** Number of the process that has the lock; it is alive. */
  | { heldBy: number; release?: undefined };

const run = promisify(execFile);

/**
 * Takes a lock that is a file naming its holder: the number and start of a process. The lock of a process that is
 * gone counts for nothing, even when its number is in use again.
 */
export async function takeLock(path: string): Promise<ProcessLock> {
  const own = `${process.pid} ${await startOf(process.pid)}`;
  for (;;) {
    if (await createWith(path, own)) return held(path, own);
    const holder = await readHolder(path);
    if (holder === null) continue; // released just now
    if (await isAlive(holder)) return { heldBy: pidOf(holder) };
    if (await takeOver(path, { holder, own })) return held(path, own);
    await wait(10); // somebody else is at it; the next round sees the result
  }
}

/**
 * Replaces the lock of a dead process. Two processes may have found it dead: the second file lets only one of
 * them act, and that one looks again first.
 */
async function takeOver(path: string, change: { holder: string; own: string }): Promise<boolean> {
  const guard = `${path}.takeover`;
  if (!(await createWith(guard, change.own))) {
    const other = await readHolder(guard);
    if (other !== null && !(await isAlive(other))) await rm(guard, { force: true });
    return false;
  }
  try {
    if ((await readHolder(path)) !== change.holder) return false;
    await rm(path);
    return await createWith(path, change.own);
  } finally {
    await rm(guard, { force: true });
  }
}

function held(path: string, own: string): ProcessLock {
  let isHeld = true;
  async function release(): Promise<void> {
    if (isHeld && (await readHolder(path)) === own) await rm(path, { force: true });
    isHeld = false;
  }
  return { heldBy: null, release };
}

/** Creates a file together with its content, so that nobody can read it half written. False when it exists. */
async function createWith(path: string, text: string): Promise<boolean> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(aside, `${text}\n`, { mode: 0o600 });
  try {
    await link(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function readHolder(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A text that names a process for as long as it lives, and no other one afterwards. Null when there is none. */
export async function processMark(pid: number): Promise<string | null> {
  const start = await startOf(pid);
  return start === null ? null : `${pid} ${start}`;
}

/** Number of the process with this mark, or null when it is gone. */
export async function livingProcess(mark: string): Promise<number | null> {
  return (await isAlive(mark)) ? pidOf(mark) : null;
}

function pidOf(holder: string): number {
  return Number.parseInt(holder, 10);
}

async function isAlive(holder: string): Promise<boolean> {
  const pid = pidOf(holder);
  if (!(pid > 0)) return false;
  return holder === (await processMark(pid));
}

/** Text that differs between two processes of the same number, also across a restart of the machine. */
async function startOf(pid: number): Promise<string | null> {
  try {
    if (!existsSync('/proc/self/stat')) {
      return (await run('ps', ['-o', 'lstart=', '-p', String(pid)])).stdout.trim();
    }
    const status = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces. After it: the state, and 19 fields later the start in clock ticks.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null; // ended, only not yet noticed by its parent
    return `${fields[19]} ${(await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()}`;
  } catch {
    return null; // no such process
  }
}
