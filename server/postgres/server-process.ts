import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { StartError } from '../start-error.ts';
import type { Account } from './account.ts';
import { type PostgresBinaries, runOptions } from './binaries.ts';
import { dataFolder } from './cluster.ts';
import { serverSettings } from './settings.ts';

/** Receives what PostgreSQL writes, line by line. A pino logger is one. */
export interface PostgresLog {
  debug(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface ServerProcess {
  pid: number;
  /** Settles with the reason when PostgreSQL ended, asked or not. */
  exited: Promise<string>;
  /** The last lines that it has written. */
  lastWords(): string[];
  /** Ends every session and stops; returns when no process is left. Safe to call twice. */
  stop(): Promise<void>;
}

export interface LaunchRequest {
  cluster: string;
  socketDir: string;
  durable: boolean;
  binaries: PostgresBinaries;
  account: Account | null;
  log: PostgresLog;
  /** Ends a start that is going on, however long its recovery may take. */
  signal?: AbortSignal;
}

const FAST_SHUTDOWN_MS = 20_000;
const READY = 'database system is ready to accept connections';
const KEPT_LINES = 8;

/**
 * Starts PostgreSQL on an existing cluster and waits, through a recovery if need be, until it takes connections.
 * @throws StartError with its last words when it ends instead
 */
export async function launchServer(request: LaunchRequest): Promise<ServerProcess> {
  const { cluster, account, binaries, signal } = request;
  const child = spawn(binaries.postgres, ['-D', dataFolder(cluster, account), ...serverSettings(request)], {
    ...runOptions(binaries, account),
    cwd: cluster,
    // Its own process group: a terminal's Ctrl-C must not stop it before the server's last transactions.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit').then(
    ([code, signal]) => `PostgreSQL ended with ${signal ?? `exit code ${code}`}`,
    (error: Error) => `PostgreSQL could not be started: ${error.message}`,
  );
  const lines: string[] = [];
  const ready = watch({ stderr: child.stderr, lines, log: request.log });
  const stop = stopper(child, exited);
  const giveUp = () => void stop();
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted) giveUp();
  const early = await Promise.race([ready, exited]);
  signal?.removeEventListener('abort', giveUp);
  if (early !== undefined) throw failedStart({ cluster, reason: early, lines });
  return { pid: child.pid ?? 0, exited, lastWords: () => [...lines], stop };
}

interface Watched {
  stderr: Readable;
  lines: string[];
  log: PostgresLog;
}

function watch({ stderr, lines, log }: Watched): Promise<undefined> {
  return new Promise((resolve) => {
    createInterface({ input: stderr }).on('line', (line) => {
      if (lines.push(line.trim()) > KEPT_LINES) lines.shift();
      if (line.startsWith('PANIC:')) log.error(`PostgreSQL: ${line}`);
      else if (/^(WARNING|ERROR|FATAL):/.test(line)) log.warn(`PostgreSQL: ${line}`);
      else log.debug(`PostgreSQL: ${line}`);
      if (line.includes(READY)) resolve(undefined);
    });
  });
}

function failedStart(start: { cluster: string; reason: string; lines: string[] }): StartError {
  return new StartError(
    `the database in ${start.cluster} cannot be started: ${start.reason}: ${start.lines.join('; ')}`,
    'if the folder is damaged, restore the data directory from a backup, or move it away to start empty',
  );
}

function stopper(child: { kill(signal: NodeJS.Signals): boolean }, exited: Promise<string>) {
  let stopped: Promise<void> | undefined;
  async function stopOnce(): Promise<void> {
    child.kill('SIGINT');
    const timer = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS);
    await exited;
    clearTimeout(timer);
  }
  return function stop(): Promise<void> {
    stopped ??= stopOnce();
    return stopped;
  };
}
