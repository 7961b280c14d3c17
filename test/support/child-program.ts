import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ChildProgram {
  child: ChildProcess;
  /** The next line that it writes to stdout; null when it ends without one. */
  nextLine(): Promise<string | null>;
}

/**
 * Runs TypeScript text in a process of its own, with the root of the repository as working directory. It is killed
 * when the test ends.
 */
export function startProgram(t: ExecutionContext, program: { text: string; args: string[] }): ChildProgram {
  const options = ['--import=tsx', '--input-type=module', '--eval', program.text, '--', ...program.args];
  const child = spawn(process.execPath, options, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, nextLine: async () => (await lines.next()).value ?? null };
}

/** Kills it as a crash would, without a chance to clean up, and waits until it is gone. */
export async function killHard(program: ChildProgram): Promise<void> {
  const gone = once(program.child, 'exit');
  program.child.kill('SIGKILL');
  await gone;
}
