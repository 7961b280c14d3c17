import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds between TERM and the first KILL. */
export const killGrace = 10_000;
const pollInterval = 100;
/** Zombies nobody collects count as alive; after so long they are left alone. */
const killLimit = 10_000;

/**
 * Ends processes: TERM, grace, KILL, until none is left. A process group is named by its negative id.
 *
 * @param find ids to be ended, asked again each time, since processes start others.
 */
export async function endProcesses(find: () => Promise<number[]>, grace: number = killGrace): Promise<void> {
  for (const id of await find()) send(id, 'SIGTERM');
  if (await waitUntilGone(find, grace)) return;
  const deadline = Date.now() + killLimit;
  while (Date.now() < deadline) {
    for (const id of await find()) send(id, 'SIGKILL');
    if (await waitUntilGone(find, 1000)) return;
  }
}

async function waitUntilGone(find: () => Promise<number[]>, limit: number): Promise<boolean> {
  const deadline = Date.now() + limit;
  for (;;) {
    if ((await find()).length === 0) return true;
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(id, signal);
    return true;
  } catch {
    // Gone meanwhile, or another user's.
    return false;
  }
}

/** The group itself while a process of it is alive, else nothing. Zombies that nobody collects do not count. */
export async function groupMembers(groupId: number): Promise<number[]> {
  if (!send(-groupId, 0)) return [];
  const ids = await processIds();
  if (ids.length === 0) return [-groupId];
  for (const id of ids) {
    const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
    // The name before the parenthesis may itself hold spaces and parentheses.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(group) === groupId && state !== 'Z' && state !== 'X') return [-groupId];
  }
  return [];
}

/** Empty where there is no /proc. */
async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * Processes that were started with `entry` (`NAME=value`) in their environment, wherever they moved since;
 * this finds those that left their process group. Empty where there is no /proc.
 */
export async function processesWith(matches: (entry: string) => boolean): Promise<number[]> {
  const found: number[] = [];
  for (const id of await processIds()) {
    if (id === process.pid) continue;
    // Other users' processes cannot be read, and need not be: jobs run as this user.
    const environment = await readFile(`/proc/${id}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').some(matches)) found.push(id);
  }
  return found;
}
