import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import { type BundledRunner, startBundledRunner } from './launch/bundled-runner.ts';
import { followDemo, importDemo } from './launch/demo.ts';
import { welcome } from './launch/welcome.ts';
import { openLog } from './log.ts';
import { startEmbeddedPostgres } from './postgres/embedded.ts';
import { type RunningServer, startServer } from './serve.ts';

/** Starts everything and keeps it running until SIGTERM or Ctrl-C, which end it in the reverse order. */
export async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const read = readConfig(env);
  if ('faults' in read) {
    for (const fault of read.faults) process.stderr.write(`hearth: ${fault}\n`);
    process.exitCode = 2;
    return;
  }
  const stopping = new AbortController();
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
  void signalled.then(() => stopping.abort());
  const undo: (() => Promise<void>)[] = [];
  try {
    await launch(read.config, { undo, signal: stopping.signal, environment: env });
    await signalled;
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

interface Launch {
  /** Steps that take back what was started, in the order of starting. */
  undo: (() => Promise<void>)[];
  signal: AbortSignal;
  /** Goes to the bundled runner. */
  environment: NodeJS.ProcessEnv;
}

async function launch(given: Config, { undo, signal, environment }: Launch): Promise<void> {
  const log = openLog(given.logLevel);
  const dataDir = await openDataDir(given.dataDir);
  undo.push(() => dataDir.release());
  const config = { ...given, dataDir: dataDir.path };
  const databaseUrl = config.databaseUrl ?? (await ownDatabase(dataDir, { undo, log }));
  const server = await startServer(config, databaseUrl, log);
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
  const passwordFile = config.rootPassword === null ? join(dataDir.path, 'root-password') : null;
  process.stdout.write(welcome({ url: server.services.baseUrl, passwordFile, hasRunner }));
}

async function ownDatabase(
  dataDir: DataDir,
  { undo, log }: { undo: Launch['undo']; log: Logger },
): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dir: join(dataDir.path, 'postgres'), durable: true, log });
  undo.push(() => postgres.stop());
  return postgres.url;
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
