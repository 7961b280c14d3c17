import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Forge } from './forge.ts';
import { Program, runProgram } from './program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface HearthOptions {
  /** Unless told there is no demo, and no runner beside the server. */
  settings?: Record<string, string | undefined>;
  /** Where the program lies; this work tree unless told. */
  root?: string;
}

const quiet = { HEARTH_DEMO: '0', HEARTH_BUNDLED_RUNNER: '0' };

export interface RunnerOptions {
  name: string;
  /** Registration token of the instance or of a project. */
  token: string;
  /** More options of `register`. */
  options?: string[];
  concurrent?: number;
}

/** A server as users start it, and runners beside it, with all their files below one temporary folder. */
export class Hearth {
  readonly folder: string;
  readonly dataDir: string;
  readonly server: Program;
  /** By name. */
  readonly runners = new Map<string, Program>();
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;
  #url = '';

  constructor(folder: string, { settings, root = ROOT }: HearthOptions) {
    this.folder = folder;
    this.dataDir = settings?.HEARTH_DATA_DIR ?? join(folder, 'data');
    this.#root = root;
    // Nothing of the machine's own settings, which would change what is tested.
    this.#env = { PATH: process.env.PATH, HOME: folder, TMPDIR: tmpdir(), HEARTH_TEST_FOLDER: folder };
    const listen = { HEARTH_LISTEN: '127.0.0.1:0', HEARTH_SSH_LISTEN: '' };
    this.server = this.#start('server/start.js', [], {
      ...listen,
      ...quiet,
      HEARTH_DATA_DIR: this.dataDir,
      ...settings,
    });
  }

  /** Known once it serves. */
  get url(): string {
    return this.#url;
  }

  /** Waits for the last words of the start. */
  async started(): Promise<void> {
    const [, url = ''] = await this.server.says(/^Hearth is at (\S+)$.*Ctrl-C/ms);
    this.#url = url;
  }

  /** The interface as root sees it, signed in with the password from the data directory. */
  async forge(): Promise<Forge> {
    const password = (await readFile(join(this.dataDir, 'root-password'), 'utf8')).trim();
    return Forge.signIn(this.url, { login: 'root', password });
  }

  configOf(runner: string): string {
    return join(this.folder, `${runner}.json`);
  }

  /** Registers a runner by its command, in the form that README shows. */
  async register({ name, token, options = [] }: RunnerOptions): Promise<void> {
    const named = ['--url', this.url, '--token', token, '--name', name, '--config', this.configOf(name)];
    await runProgram({
      cwd: this.#root,
      env: this.#env,
      command: 'npm',
      args: ['run', '--silent', 'runner', '--', 'register', ...named, ...options],
    });
  }

  /** Registers a runner and starts it; it ends with the server. */
  async addRunner(runner: RunnerOptions): Promise<Program> {
    await this.register(runner);
    return this.startRunner(runner);
  }

  /** Starts a runner that has been registered before. */
  startRunner({ name, concurrent = 1 }: Pick<RunnerOptions, 'name' | 'concurrent'>): Program {
    const args = ['run', '--config', this.configOf(name), '--concurrent', String(concurrent)];
    const program = this.#start('runner/start.js', args);
    this.runners.set(name, program);
    return program;
  }

  /** Ends a runner as a crash would. What its jobs have started lives on. */
  async killRunner(name: string): Promise<void> {
    const program = this.runners.get(name);
    this.runners.delete(name);
    program?.child.kill('SIGKILL');
    await program?.ended;
  }

  /** The token that the runner got when it was registered. */
  async runnerToken(name: string): Promise<string> {
    const { runners } = JSON.parse(await readFile(this.configOf(name), 'utf8'));
    return runners[0].token;
  }

  /** Ends the server as a crash would. What it has started lives on. */
  async kill(): Promise<void> {
    const gone = once(this.server.child, 'exit');
    this.server.child.kill('SIGKILL');
    await gone;
  }

  /** Safe to call twice. @returns exit codes of the runners and of the server, unless that was killed. */
  async stop(): Promise<(number | null)[]> {
    const codes = await Promise.all([...this.runners.values()].map((runner) => runner.stop()));
    if (this.server.child.signalCode === 'SIGKILL') return codes;
    return [...codes, await this.server.stop()];
  }

  log(): string {
    const runners = [...this.runners].map(([name, { stderr }]) => `── runner ${name}\n${stderr}`);
    const { stdout, stderr } = this.server;
    return [`── server\n${stdout}${stderr}`, ...runners].join('\n');
  }

  #start(program: string, args: string[], settings: NodeJS.ProcessEnv = {}): Program {
    return new Program({
      cwd: this.#root,
      env: { ...this.#env, ...settings },
      command: process.execPath,
      args: [program, ...args],
    });
  }
}

/** Copies the program as a clone of it would be, with what is not committed yet. */
export async function copyOfProgram(target: string): Promise<void> {
  const list = await runProgram({
    cwd: ROOT,
    env: process.env,
    command: 'git',
    args: ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  });
  for (const path of list.split('\0').filter(Boolean)) {
    // Deleted, and not yet so in the index.
    await cp(join(ROOT, path), join(target, path), { preserveTimestamps: true }).catch(ignoreMissing);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
