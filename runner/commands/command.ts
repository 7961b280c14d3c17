import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { type ConfigFile, defaultConfigPath, Registration } from '../config.ts';

/** What a command has besides its options. */
export interface CommandContext {
  environment: NodeJS.ProcessEnv;
  /** Set by a command that did its work and found something wrong: exit code 1. */
  failed: boolean;
}

/** A command cannot do what it was asked for; the message is for the user. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
}

/** An option that may also come from the environment: `--tag-list` from `HEARTH_RUNNER_TAG_LIST`. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(`HEARTH_RUNNER_${made.name().replaceAll('-', '_').toUpperCase()}`);
}

export function configOption(): Option {
  return option('--config <file>', 'config file with the registrations')
    .default(defaultConfigPath(), '~/.hearth-runner/config.json')
    .argParser((text) => resolve(text));
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function parseFlag(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new InvalidArgumentError('must be true or false.');
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1.');
  return Number(text);
}

export function parseNumber(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('must be a number above 0.');
  return number;
}

/** The registrations with this name, or all of them. */
export function chosen(config: ConfigFile, name: string | undefined): Registration[] {
  const all = (config.runners ?? []).map((runner) => Registration.parse(runner));
  const found = name === undefined ? all : all.filter((runner) => runner.name === name);
  if (name !== undefined && found.length === 0) throw new CommandFault(`there is no runner named ${name}`);
  return found;
}

/** The config without the registrations of these names. */
export function without(config: ConfigFile, names: ReadonlySet<string>): ConfigFile {
  return { ...config, runners: (config.runners ?? []).filter((runner) => !names.has(runner.name)) };
}
