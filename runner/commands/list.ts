import type { Command } from 'commander';
import { readConfigFile } from '../config.ts';
import { type CommandContext, chosen, configOption, option, parseFlag, print } from './command.ts';

export function addList(program: Command, _context: CommandContext): void {
  program
    .command('list')
    .description('Shows the registrations of this machine.')
    .addOption(configOption())
    .addOption(option('--json [flag]', 'one JSON array instead of lines').preset('true').argParser(parseFlag))
    .addHelpText('after', '\nExample:\n  $ npm run --silent runner -- list --json')
    .action(list);
}

async function list(options: { config: string; json?: boolean }): Promise<void> {
  const runners = chosen(await readConfigFile(options.config), undefined);
  const rows = runners.map(({ name, url, executor, limit, docker }) => ({
    name,
    url,
    executor,
    limit: limit ?? null,
    image: executor === 'docker' ? docker.image : null,
  }));
  if (options.json) return print(JSON.stringify(rows, null, 2));
  for (const row of rows) print([row.name, row.executor, row.image ?? '-', row.url].join('\t'));
}
