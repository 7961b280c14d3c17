import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import { type BundledRunner, startBundledRunner } from './launch/bundled-runner.ts';
import { followDemo, importDemo } from './launch/demo.ts';
import { welcome } from './launch/welcome.ts';
import { openLog } from './log.ts';
import { superviseEmbeddedPostgres } from './postgres/supervisor.ts';
import { type RunningServer, startServer } from './serve.ts';

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
  } finally {
    for (const step of undo.reverse()) await takeBack(step);
  }
}

type Undo = () => Promise<void>;

/** One step that fails must not keep the others from being taken back. */
async function takeBack(step: Undo): Promise<void> {
  try {
    await step();
  } catch (error) {
    process.stderr.write(`hearth: while stopping: ${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
}

interface Launch {
  /** Steps that take back what was started, in the order of starting. */
  undo: Undo[];
  signal: AbortSignal;
  /** Goes to the bundled runner. */
  environment: NodeJS.ProcessEnv;
}

/** @returns `lost` settles when the server cannot go on, with the reason already told. */
async function launch(
  given: Config,
  { undo, signal, environment }: Launch,
): Promise<{ lost: Promise<void> }> {
  const log = openLog(given.logLevel);
  const dataDir = await openDataDir(given.dataDir);
  undo.push(() => dataDir.release());
  const config = { ...given, dataDir: dataDir.path };
  const database = config.databaseUrl === null ? await ownDatabase(dataDir, { undo, log }) : null;
  const server = await startServer(config, config.databaseUrl ?? database?.url ?? '', log);
  undo.push(() => server.stop());
  const url = localUrl(server);
  const hasRunner = config.bundledRunner !== false;
  if (hasRunner) {
    const runner: BundledRunner = await startBundledRunner(server.services, {
      dir: join(dataDir.path, 'runner'),
      url,
      environment,
    });
    undo.push(() => runner.stop());
  }
  const isDemo = config.demo ?? server.isFirstStart;
  if (isDemo && server.isFirstStart) await showDemo(server, { url, hasRunner, signal });
  const lost = database?.lost ?? never();
  if (signal.aborted) return { lost };
  const passwordFile = config.rootPassword === null ? join(dataDir.path, 'root-password') : null;
  process.stdout.write(welcome({ url: server.services.baseUrl, passwordFile, hasRunner }));
  return { lost };
}

function never(): Promise<void> {
  return new Promise(() => undefined);
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

interface DemoFacts {
  url: string;
  hasRunner: boolean;
  signal: AbortSignal;
}

async function showDemo(server: RunningServer, { url, hasRunner, signal }: DemoFacts): Promise<void> {
  const projectId = await importDemo(server.services, url);
  if (!hasRunner) return;
  process.stdout.write('The first start brings an example, hello-ci. Its pipeline runs now:\n');
  const isGood = await followDemo(server.services, { projectId, signal });
  if (signal.aborted) return;
  process.stdout.write(
    isGood ? '\nThe pipeline of hello-ci succeeded.\n' : '\nThe pipeline of hello-ci did not succeed.\n',
  );
}

/** Where this machine reaches the server, also when it listens everywhere. */
function localUrl({ address }: RunningServer): string {
  const isAny = address.host === '0.0.0.0' || address.host === '::';
  const host = isAny ? '127.0.0.1' : address.host.includes(':') ? `[${address.host}]` : address.host;
  return `http://${host}:${address.port}`;
}
