import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import type { TestApp } from './app.ts';

const program = fileURLToPath(new URL('server-program.ts', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A second server on database and files of the test application, that can be killed. */
export interface ServerProcess {
  url: string;
  /** Where it serves SSH, when it was asked to. */
  sshPort: number;
  pid: number;
  /** Ends it as a crash does. */
  crash(): Promise<void>;
  /** Ends what git runs for it likewise, and it too, as a power cut does. */
  cutPower(): Promise<void>;
}

export async function startServerProcess(
  t: ExecutionContext,
  app: TestApp,
  { ssh = false } = {},
): Promise<ServerProcess> {
  const dataDir = dirname(app.services.repositoriesDir);
  const args = [
    '--import=tsx',
    program,
    dataDir,
    app.databaseUrl,
    '07'.repeat(32),
    ...(ssh ? ['127.0.0.1:0'] : []),
  ];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: url } = await lines.next();
  const { value: sshPort } = await lines.next();
  if (typeof url !== 'string') throw new Error('the server did not start');
  const pid = child.pid ?? 0;
  return {
    url,
    sshPort: Number(sshPort),
    pid,
    crash: () => killHard(child),
    async cutPower() {
      for (const git of await gitsOf(pid)) signalGroup(git, 'SIGKILL');
      await killHard(child);
    },
  };
}

async function killHard(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Ids of the processes that take a push for this one. Each leads a group of its own. */
export function gitsOf(pid: number): Promise<number[]> {
  return childrenWith(pid, 'receive-pack');
}

/** Ids of the processes that move a ref for this one, likewise. */
export function moversOf(pid: number): Promise<number[]> {
  return childrenWith(pid, 'update-ref');
}

async function childrenWith(pid: number, word: string): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const children = text.trim().split(' ').map(Number).filter(Boolean);
  const found: number[] = [];
  for (const child of children) {
    const command = await readFile(`/proc/${child}/cmdline`, 'latin1').catch(() => '');
    if (command.includes(word)) found.push(child);
  }
  return found;
}

/** @returns false when nobody is left in the group. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    // It has ended by itself in the meantime.
    return false;
  }
}
