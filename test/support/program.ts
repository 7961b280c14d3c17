import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export interface ProgramStart {
  cwd: string;
  env: NodeJS.ProcessEnv;
  command: string;
  args: string[];
}

/** A process with all that it has written so far. */
export class Program {
  readonly child: ChildProcess;
  /** Comes with the exit code, or null after a deadly signal, once both outputs are read to their end. */
  readonly ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor({ cwd, env, command, args }: ProgramStart) {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.child = child;
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
  }

  /** Waits for a line on stdout. Throws with everything that it wrote when it ends before. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    let hasEnded = false;
    void this.ended.finally(() => {
      hasEnded = true;
    });
    return poll(`${pattern} on stdout`, 150_000, () => {
      const found = pattern.exec(this.stdout);
      if (!found && hasEnded) throw new Error(`it ended without ${pattern}:\n${this.stdout}${this.stderr}`);
      return found;
    });
  }

  /** @returns the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Runs a program to its end. Throws with what it wrote when its exit code is not 0. */
export async function runProgram(start: ProgramStart): Promise<string> {
  const program = new Program(start);
  const code = await program.ended;
  if (code === 0) return program.stdout;
  throw new Error(`${start.command} ${start.args.join(' ')}: exit code ${code}\n${program.stderr}`);
}

/** Asks again until there is something. Throws when there is nothing within `limitMs`. */
export async function poll<T>(
  what: string,
  limitMs: number,
  ask: () => T | null | Promise<T | null>,
): Promise<T> {
  for (const deadline = Date.now() + limitMs; ; await wait(50)) {
    const found = await ask();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`still no ${what} after ${limitMs} ms`);
  }
}

/** Command lines of the processes that have `text` in their arguments, environment or working directory. */
export async function processesAbout(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const id of await readdir('/proc')) {
    if (!/^\d+$/.test(id) || Number(id) === process.pid) continue;
    // A process may end while it is looked at.
    const read = (name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '');
    const command = (await read('cmdline')).replaceAll('\0', ' ').trim();
    const folder = await readlink(`/proc/${id}/cwd`).catch(() => '');
    if (`${command} ${folder} ${await read('environ')}`.includes(text)) found.push(`${id} ${command}`);
  }
  return found;
}
