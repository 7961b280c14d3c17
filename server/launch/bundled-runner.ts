import { spawn } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { livingProcess, processMark } from '../process-lock.ts';
import { registrationToken } from '../queries/registration-token.ts';
import { runnerByToken } from '../queries/runner-row.ts';
import type { Services } from '../services.ts';

const program = fileURLToPath(new URL('../../runner/start.js', import.meta.url));
const runnerName = 'bundled';
/** A stopped runner reports its builds first, for at most half a minute. */
const stopMs = 40_000;

export interface BundledRunner {
  /** Ends its builds, reports them, and waits until it is gone. */
  stop(): Promise<void>;
}

export interface RunnerPlace {
  /** Folder for its configuration and working copies. */
  dir: string;
  /** Address of this server on this machine. */
  url: string;
  /** What the runner sees of the environment of this process. */
  environment: NodeJS.ProcessEnv;
}

/**
 * Starts the runner that comes with the server, as a process of its own. One that a killed server left running
 * goes on with its builds and is taken over.
 */
export async function startBundledRunner(services: Services, place: RunnerPlace): Promise<BundledRunner> {
  await mkdir(place.dir, { recursive: true, mode: 0o700 });
  const markPath = join(place.dir, 'process');
  const config = join(place.dir, 'config.json');
  if (!(await isRegistered(services, { config, url: place.url }))) {
    await register(services, { ...place, config });
  }
  const left = (await readFile(markPath, 'utf8').catch(absent)).trim();
  if ((await livingProcess(left)) !== null) return { stop: () => stopProcess(left, markPath) };
  const child = spawn(process.execPath, [program, 'run', '--config', config], {
    // Its own process group: a Ctrl-C at the terminal is for the server, which stops it in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { HEARTH_RUNNER_LOG_LEVEL: 'warn', ...withoutSettings(place.environment) },
  });
  const mark = (await processMark(child.pid ?? 0)) ?? '';
  await writeFile(markPath, `${mark}\n`, { mode: 0o600 });
  let isStopping = false;
  child.once('exit', (code) => {
    if (!isStopping)
      services.log.error({ code }, 'the bundled runner ended; restart the server to have it again');
  });
  return {
    stop() {
      isStopping = true;
      return stopProcess(mark, markPath);
    },
  };
}

/**
 * A runner that an administrator has deleted, or of another database, is as good as none. One that knows the
 * server by an old address is told the new one; it notices a change of the file, also while it runs.
 */
async function isRegistered(
  services: Services,
  { url, config }: Pick<RunnerPlace, 'url'> & { config: string },
): Promise<boolean> {
  const text = await readFile(config, 'utf8').catch(absent);
  if (text === '') return false;
  const settings = JSON.parse(text) as { runners?: { token: string; url: string }[] };
  const [runner] = settings.runners ?? [];
  if (!runner || !(await runnerByToken(services.orm.em.fork(), runner.token))) {
    await rm(config);
    return false;
  }
  if (runner.url !== url) {
    runner.url = url;
    await writeFile(`${config}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
    await rename(`${config}.new`, config);
  }
  return true;
}

/** The server's own settings, among them passwords, are not for a process that runs jobs. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOwn = (name: string) => name === 'DATABASE_URL' || /^HEARTH_(?!RUNNER_)/.test(name);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isOwn(name)));
}

async function register(
  services: Services,
  { url, config, environment }: RunnerPlace & { config: string },
): Promise<void> {
  await writeFile(config, JSON.stringify({ concurrent: availableParallelism() }), { mode: 0o600 });
  const token = await registrationToken(services.orm.em.fork(), services.secrets);
  const args = ['register', '--config', config, '--url', url, '--name', runnerName, '--executor', 'auto'];
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // Not an argument: those can be read by everybody on the machine.
    env: { ...withoutSettings(environment), HEARTH_RUNNER_TOKEN: token },
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`the bundled runner could not be registered (exit code ${code})`);
}

async function stopProcess(mark: string, markPath: string): Promise<void> {
  const deadline = Date.now() + stopMs;
  let signal: NodeJS.Signals | 0 = 'SIGTERM';
  for (let pid = await livingProcess(mark); pid !== null; pid = await livingProcess(mark)) {
    send(pid, signal);
    signal = Date.now() > deadline ? 'SIGKILL' : 0;
    await wait(50);
  }
  await rm(markPath, { force: true });
}

function send(pid: number, signal: NodeJS.Signals | 0): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in between, which the next look finds.
  }
}

/** A file that is not there says nothing. */
function absent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
