import { readdir, readFile } from 'node:fs/promises';
import { setInterval } from 'node:timers/promises';

/** Resident memory of a process in MiB, with what it shares. */
export async function residentMemory(pid: number): Promise<number> {
  return field(await readFile(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
}

/** Watches a process while `work` runs. @returns how many MiB its resident memory grew at most. */
export async function memoryGrowth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = await residentMemory(pid);
  const ending = new AbortController();
  let peak = before;
  async function watch(): Promise<void> {
    for await (const _ of setInterval(20, null, { signal: ending.signal })) {
      peak = Math.max(peak, await residentMemory(pid));
    }
  }
  const watching = watch().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  try {
    await work();
  } finally {
    ending.abort();
    await watching;
  }
  return peak - before;
}

/** Memory in MiB of some processes; what several share is divided between them. */
export async function memoryOf(pids: number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) {
    // One that has ended since it was found takes none.
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => null);
    if (text !== null) sum += field(text, 'Pss');
  }
  return sum;
}

/** Ids of the processes below one whose command line matches. */
export async function processesBelow(pid: number, command: RegExp): Promise<number[]> {
  const all = await processes();
  const below = new Set([pid]);
  for (let size = 0; size < below.size; ) {
    size = below.size;
    for (const one of all) if (below.has(one.parent)) below.add(one.pid);
  }
  return all.filter((one) => below.has(one.pid) && command.test(one.command)).map((one) => one.pid);
}

async function processes(): Promise<{ pid: number; parent: number; command: string }[]> {
  const found = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process may end while it is looked at.
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    const parent = Number(/^PPid:\s+(\d+)$/m.exec(await read('status'))?.[1]);
    found.push({ pid: Number(name), parent, command: (await read('cmdline')).replaceAll('\0', ' ') });
  }
  return found;
}

function field(text: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
  if (!found) throw new Error(`no ${name} in:\n${text}`);
  return Number(found[1]) / 1024;
}
