import { unwatchFile, watchFile } from 'node:fs';
import type { Command } from 'commander';
import { loadConfig, type RunnerConfig } from '../config.ts';
import { hostEnvironment } from '../host-environment.ts';
import { createLog, type Log, type LogLevel, logLevels } from '../log.ts';
import { version } from '../version.ts';
import { Worker } from '../worker.ts';
import { type CommandContext, configOption, option, parseCount } from './command.ts';

interface RunOptions {
  config: string;
  concurrent?: number;
  logLevel: LogLevel;
}

/** Milliseconds. */
const watchInterval = 3000;
const abortLimit = 30_000;

const help = `
Signals: TERM or INT ends the builds that run (a second one exits at once), QUIT waits for them, HUP reads the
config file again; a change of the file is also noticed.

Example:
  $ npm run runner -- run --concurrent 4`;

export function addRun(program: Command, context: CommandContext): void {
  program
    .command('run')
    .description('Asks the servers for builds and runs them, until a signal ends it.')
    .addOption(configOption())
    .addOption(
      option('--concurrent <number>', 'builds at the same time, over the config file').argParser(parseCount),
    )
    .addOption(option('--log-level <level>', 'least level on stderr').choices(logLevels).default('info'))
    .addHelpText('after', help)
    .action((options: RunOptions) => run(options, context));
}

async function run(options: RunOptions, context: CommandContext): Promise<void> {
  const log = createLog(options.logLevel);
  const config = await readConfig(options);
  if (config.runners.length === 0) log.warn({ config: options.config }, 'no runner is registered yet');
  const worker = new Worker({
    config,
    configPath: options.config,
    hostEnvironment: hostEnvironment(context.environment),
    log,
  });
  log.info({ version, config: options.config }, 'runner started');
  worker.start();
  const stopWatching = watch(options, worker, log);
  await stopSignal(worker, log);
  stopWatching();
  await worker.finished();
  log.info('runner stopped');
}

async function readConfig(options: RunOptions): Promise<RunnerConfig> {
  const config = await loadConfig(options.config);
  return options.concurrent === undefined ? config : { ...config, concurrent: options.concurrent };
}

/** Follows the config file; one that cannot be read changes nothing. */
function watch(options: RunOptions, worker: Worker, log: Log): () => void {
  const reload = () => {
    readConfig(options).then(
      (config) => worker.apply(config),
      (error: Error) =>
        log.error({ reason: error.message }, 'the config file cannot be used; the old one stays'),
    );
  };
  watchFile(options.config, { interval: watchInterval }, reload);
  process.on('SIGHUP', reload);
  return () => {
    unwatchFile(options.config, reload);
    process.off('SIGHUP', reload);
  };
}

/** Comes back at the first signal to stop; later ones are acted on as well. */
function stopSignal(worker: Worker, log: Log): Promise<void> {
  return new Promise((resolve) => {
    let isAborting = false;
    const abort = (signal: NodeJS.Signals) => {
      if (isAborting) process.exit(1);
      isAborting = true;
      log.info({ signal }, 'ending the builds that run');
      worker.abort();
      setTimeout(() => process.exit(1), abortLimit).unref();
      resolve();
    };
    process.on('SIGTERM', abort);
    process.on('SIGINT', abort);
    process.on('SIGQUIT', (signal) => {
      log.info({ signal }, 'waiting for the builds that run');
      worker.drain();
      resolve();
    });
  });
}
