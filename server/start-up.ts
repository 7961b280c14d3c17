import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { startBundledRunner } from './launch/bundled-runner.ts';
import { followDemo, importDemo } from './launch/demo.ts';
import { welcome } from './launch/welcome.ts';
import { type RunningServer, startServer } from './serve.ts';

export type Undo = () => Promise<void>;

export interface StartUp {
  databaseUrl: string;
  log: Logger;
  /** Receives steps that take back what was started, in the order of starting. */
  undo: Undo[];
  signal: AbortSignal;
  /** Goes to the bundled runner. */
  environment: NodeJS.ProcessEnv;
}

/** Starts the server on a database that runs, the runner beside it and, the first time, the example; then says so. */
export async function startUp(
  config: Config,
  { databaseUrl, log, undo, signal, environment }: StartUp,
): Promise<void> {
  const server = await startServer(config, databaseUrl, log);
  undo.push(() => server.stop());
  const url = localUrl(server);
  const hasRunner = config.bundledRunner !== false;
  if (hasRunner) {
    const dir = join(config.dataDir, 'runner');
    const runner = await startBundledRunner(server.services, { dir, url, environment });
    undo.push(() => runner.stop());
  }
  const isDemo = config.demo ?? server.isFirstStart;
  if (isDemo && server.isFirstStart) await showDemo(server, { url, hasRunner, signal });
  if (signal.aborted) return;
  const passwordFile = config.rootPassword === null ? join(config.dataDir, 'root-password') : null;
  process.stdout.write(welcome({ url: server.services.baseUrl, passwordFile, hasRunner }));
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
