import type { Command } from 'commander';
import { RunnerClient } from '../client.ts';
import { readConfigFile, saveConfig } from '../config.ts';
import { runnerInfo } from '../version.ts';
import { type CommandContext, chosen, configOption, option, parseFlag, print, without } from './command.ts';

interface UnregisterOptions {
  config: string;
  name?: string;
  all?: boolean;
}

export function addUnregister(program: Command, _context: CommandContext): void {
  program
    .command('unregister')
    .description('Removes runners from their servers and from the config file.')
    .addOption(configOption())
    .addOption(option('--name <name>', 'the runner to remove'))
    .addOption(option('--all [flag]', 'removes every runner').preset('true').argParser(parseFlag))
    .addHelpText('after', '\nExample:\n  $ npm run runner -- unregister --name build-1')
    .action(unregister);
}

async function unregister(options: UnregisterOptions, command: Command): Promise<void> {
  if (options.name === undefined && !options.all) command.error('error: either --name or --all is needed');
  let config = await readConfigFile(options.config);
  for (const { name, url, token } of chosen(config, options.all ? undefined : options.name)) {
    const result = await new RunnerClient({ url, info: runnerInfo }).unregisterRunner(token);
    config = without(config, new Set([name]));
    await saveConfig(options.config, config);
    print(`${name}\t${result === 'removed' ? 'removed' : 'removed here; the server did not know it'}`);
  }
}
