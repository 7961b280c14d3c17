import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
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
  const left = await livingProcess(await readFile(markPath, 'utf8').then((text) => text.trim(), absent));
  if (left !== null) return { stop: () => stopProcess(left, markPath) };
  if (!(await isRegistered(services, config))) await register(services, { ...place, config });
  const child = spawn(process.execPath, [program, 'run', '--config', config], {
    // Its own process group: a Ctrl-C at the terminal is for the server, which stops it in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { HEARTH_RUNNER_LOG_LEVEL: 'warn', ...place.environment },
  });
  const pid = child.pid ?? 0;
  await writeFile(markPath, `${await processMark(pid)}\n`, { mode: 0o600 });
  let isStopping = false;
  child.once('exit', (code) => {
    if (!isStopping)
      services.log.error({ code }, 'the bundled runner ended; restart the server to have it again');
  });
  return {
    stop() {
      isStopping = true;
      return stopProcess(pid, markPath);
    },
  };
}

/** A runner that an administrator has deleted, or of another database, is as good as none. */
async function isRegistered(services: Services, config: string): Promise<boolean> {
  const text = await readFile(config, 'utf8').catch(absent);
  if (text === '') return false;
  const { runners } = JSON.parse(text) as { runners?: { token: string }[] };
  const token = runners?.[0]?.token;
  if (token && (await runnerByToken(services.orm.em.fork(), token))) return true;
  await rm(config);
  return false;
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
    env: { ...environment, HEARTH_RUNNER_TOKEN: token },
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`the bundled runner could not be registered (exit code ${code})`);
}

async function stopProcess(pid: number, markPath: string): Promise<void> {
  const mark = (await readFile(markPath, 'utf8').catch(absent)).trim();
  if ((await livingProcess(mark)) !== pid) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + stopMs;
  while ((await livingProcess(mark)) !== null) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
    await wait(50);
  }
  await rm(markPath, { force: true });
}

/** A file that is not there says nothing. */
function absent(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
