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
    const stat = await readStat(id);
    if (stat?.group === groupId && stat.isAlive) return [-groupId];
  }
  return [];
}

interface ProcessStat {
  parent: number;
  group: number;
  session: number;
  /** False for zombies that nobody collects. */
  isAlive: boolean;
}

/** Null when there is no such process any more. */
async function readStat(id: number): Promise<ProcessStat | null> {
  const text = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name before the parenthesis may itself hold spaces and parentheses.
  const [state = 'X', ...numbers] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent = 0, group = 0, session = 0] = numbers.map(Number);
  return { parent, group, session, isAlive: state !== 'Z' && state !== 'X' };
}

/** Empty where there is no /proc. */
async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * Processes that were started with a matching entry (`NAME=value`) in their environment, wherever they moved since,
 * all others of the sessions that they lead, and whatever these have started, so that neither a new session nor an empty
 * environment alone is enough to escape. Empty where there is no /proc.
 */
export async function processesWith(matches: (entry: string) => boolean): Promise<number[]> {
  const stats = new Map<number, ProcessStat>();
  const found = new Set<number>();
  for (const id of await processIds()) {
    const stat = await readStat(id);
    if (id === process.pid || !stat?.isAlive) continue;
    stats.set(id, stat);
    // Other users' processes cannot be read, and need not be: jobs run as this user.
    const environment = await readFile(`/proc/${id}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').some(matches)) found.add(id);
  }
  for (const [id, { session }] of stats) if (found.has(session)) found.add(id);
  addDescendants(found, stats);
  return [...found];
}

function addDescendants(found: Set<number>, stats: ReadonlyMap<number, ProcessStat>): void {
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const [id, { parent }] of stats) if (found.has(parent)) found.add(id);
  }
}
