import type { Command } from 'commander';
import { RunnerClient } from '../client.ts';
import { type Registration, readConfigFile, saveConfig } from '../config.ts';
import { RequestFault } from '../retry.ts';
import { runnerInfo } from '../version.ts';
import { type CommandContext, chosen, configOption, option, parseFlag, print, without } from './command.ts';

interface VerifyOptions {
  config: string;
  name?: string;
  delete?: boolean;
}

export function addVerify(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .description('Asks the servers whether they still know the runners; exit code 1 when one does not.')
    .addOption(configOption())
    .addOption(option('--name <name>', 'only this runner'))
    .addOption(
      option('--delete [flag]', 'takes removed runners out of the config file')
        .preset('true')
        .argParser(parseFlag),
    )
    .addHelpText('after', '\nExample:\n  $ npm run runner -- verify --delete')
    .action((options: VerifyOptions) => verify(options, context));
}

async function verify(options: VerifyOptions, context: CommandContext): Promise<void> {
  const config = await readConfigFile(options.config);
  const removed = new Set<string>();
  for (const runner of chosen(config, options.name)) {
    const state = await ask(runner);
    print(`${runner.name}\t${state}`);
    if (state !== 'alive') context.failed = true;
    if (state === 'removed') removed.add(runner.name);
  }
  if (options.delete && removed.size > 0) await saveConfig(options.config, without(config, removed));
}

async function ask({ url, token }: Registration): Promise<string> {
  try {
    return await new RunnerClient({ url, info: runnerInfo }).verifyRunner(token);
  } catch (error) {
    if (error instanceof RequestFault) return `unknown (${error.message})`;
    throw error;
  }
}
