// `npm run readme` writes the generated parts of README.md; a test compares them with the code.
import { readFile, writeFile } from 'node:fs/promises';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../runner/main.ts';
import { settingsTable } from '../../server/config.ts';
import { beyond, ledger } from '../contract/ledger.ts';

export const readmeFile = fileURLToPath(new URL('../../README.md', import.meta.url));

/** Of the help texts, in characters; a terminal has its own. */
const helpWidth = 100;

/** What stands between `<!-- name -->` and `<!-- /name -->`, each made from the code. */
export const parts: Record<string, () => Promise<string> | string> = {
  settings: settingsTable,
  commands: commandHelps,
  endpoints: endpointCount,
};

/** @throws Error when a part has no place in the text, or more than one. */
export async function renewParts(text: string): Promise<string> {
  let renewed = text;
  for (const [name, make] of Object.entries(parts)) {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [before, rest, ...more] = renewed.split(open);
    const [, after, ...others] = (rest ?? '').split(close);
    if (before === undefined || after === undefined || more.length > 0 || others.length > 0) {
      throw new Error(`README.md must have one ${open} and one ${close} after it`);
    }
    renewed = `${before}${open}\n${await make()}\n${close}${after}`;
  }
  return renewed;
}

async function commandHelps(): Promise<string> {
  const names = createProgram({ environment: {}, failed: false }).commands.map((command) => command.name());
  const helps = await Promise.all(
    names.map(async (name) => `$ npm run runner -- ${name} --help\n${await help(name)}`),
  );
  return ['```', helps.join('\n\n'), '```'].join('\n');
}

/** What the command writes when it is asked for its help. */
async function help(name: string): Promise<string> {
  let written = '';
  const program = createProgram({ environment: {}, failed: false });
  const command = program.commands.find((one) => one.name() === name) as Command;
  command.configureOutput({ writeOut: (text) => (written += text), getOutHelpWidth: () => helpWidth });
  try {
    await program.parseAsync([name, '--help'], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  }
  return written.trimEnd();
}

function endpointCount(): string {
  const names = beyond.map((name) => `\`${name}\``).join(', ');
  return `All ${ledger.length} endpoints of the interface are served, and beyond it ${names}.`;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(readmeFile, await renewParts(await readFile(readmeFile, 'utf8')));
}
