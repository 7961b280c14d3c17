import { join } from 'node:path';
import { readConfig } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { openLog } from './log.ts';
import { startEmbeddedPostgres } from './postgres/embedded.ts';
import { startServer } from './serve.ts';

/** Starts everything and keeps it running until SIGTERM or Ctrl-C. */
export async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const read = readConfig(env);
  if ('faults' in read) {
    for (const fault of read.faults) process.stderr.write(`hearth: ${fault}\n`);
    process.exitCode = 2;
    return;
  }
  const config = read.config;
  const log = openLog(config.logLevel);
  const dataDir = await openDataDir(config.dataDir);
  const postgres =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({ dir: join(dataDir.path, 'postgres'), durable: true, log })
      : null;
  const url = config.databaseUrl ?? postgres?.url ?? '';
  const server = await startServer({ ...config, dataDir: dataDir.path }, url, log);
  process.stdout.write(`listening on ${server.services.baseUrl}\n`);
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await server.stop();
    await postgres?.stop();
    await dataDir.release();
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
}
