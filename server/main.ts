import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import { isDiskFull } from './disk-full.ts';
import { openLog } from './log.ts';
import { superviseEmbeddedPostgres } from './postgres/supervisor.ts';
import { StartError } from './start-error.ts';
import type { StartUp, Undo } from './start-up.ts';

/** Starts everything and keeps it running until SIGTERM or Ctrl-C, which end it in the reverse order. */
export async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const read = readConfig(env);
  if ('faults' in read) {
    for (const fault of read.faults) process.stderr.write(`hearth: ${fault}\n`);
    process.exitCode = 2;
    return;
  }
  if (read.config.blobs.kind !== 'file') {
    process.stderr.write(
      'hearth: HEARTH_BLOBS: this version keeps blobs in the data directory only, expected file:\n',
    );
    process.exitCode = 2;
    return;
  }
  const stopping = new AbortController();
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
  void signalled.then(() => stopping.abort());
  const undo: Undo[] = [];
  try {
    const { lost } = await launch(read.config, { undo, signal: stopping.signal, environment: env });
    await Promise.race([signalled, lost]);
  } catch (error) {
    throw isDiskFull(error) ? noRoom(read.config.dataDir, error as Error) : error;
  } finally {
    for (const step of undo.reverse()) await takeBack(step);
  }
}

function noRoom(dataDir: string, error: Error): StartError {
  const advice = 'make room on the disk of the data directory, then start again';
  return new StartError(`there is no room in ${dataDir}: ${error.message}`, advice, error);
}

/** One step that fails must not keep the others from being taken back. */
async function takeBack(step: Undo): Promise<void> {
  try {
    await step();
  } catch (error) {
    process.stderr.write(`hearth: while stopping: ${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
}

/** @returns `lost` settles when the server cannot go on, with the reason already told. */
async function launch(
  given: Config,
  { undo, signal, environment }: Pick<StartUp, 'undo' | 'signal' | 'environment'>,
): Promise<{ lost: Promise<void> }> {
  // Reading the program takes about as long as starting a database, and each does its own.
  const program = import('./start-up.ts');
  // Told where it is awaited, unless something else fails before that.
  program.catch(() => undefined);
  const log = openLog(given.logLevel);
  const dataDir = await openDataDir(given.dataDir);
  undo.push(() => dataDir.release());
  const config = { ...given, dataDir: dataDir.path };
  const database = config.databaseUrl === null ? await ownDatabase(dataDir, { undo, log }) : null;
  const databaseUrl = config.databaseUrl ?? database?.url ?? '';
  const { startUp } = await program;
  await startUp(config, { databaseUrl, log, undo, signal, environment });
  return { lost: database?.lost ?? new Promise(() => undefined) };
}

async function ownDatabase(
  dataDir: DataDir,
  { undo, log }: { undo: Undo[]; log: Logger },
): Promise<{ url: string; lost: Promise<void> }> {
  const dir = join(dataDir.path, 'postgres');
  const postgres = await superviseEmbeddedPostgres({ dir, durable: true, log });
  undo.push(() => postgres.stop());
  const lost = postgres.lost.then((how) => {
    process.stderr.write(`hearth: the database could not be brought back: ${how}\n`);
    process.exitCode = 1;
  });
  return { url: postgres.url, lost };
}
