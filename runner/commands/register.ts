import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Command, Option } from 'commander';
import { RunnerClient } from '../client.ts';
import { type ConfigFile, checkConfig, executorNames, readConfigFile, saveConfig } from '../config.ts';
import { pullPolicies } from '../executor/docker-options.ts';
import { runnerInfo } from '../version.ts';
import {
  type CommandContext,
  CommandFault,
  configOption,
  option,
  parseCount,
  parseFlag,
  parseList,
  parseNumber,
  print,
} from './command.ts';

interface RegisterOptions {
  config: string;
  url: string;
  token?: string;
  tokenFile?: string;
  ifMissing?: boolean;
  name: string;
  executor: (typeof executorNames)[number];
  tags: string[];
  runUntagged?: boolean;
  locked?: boolean;
  limit?: number;
  buildsDir?: string;
  cacheDir?: string;
  outputLimit?: string;
  image?: string;
  dockerHost?: string;
  pullPolicy?: (typeof pullPolicies)[number];
  memory?: string;
  cpus?: number;
  pidsLimit?: number;
  privileged?: boolean;
  networkMode?: string;
  volumes?: string[];
  allowedImages?: string[];
  allowedServices?: string[];
}

const example = `
Example:
  $ npm run runner -- register --url https://hearth.example.com --token REGISTRATION_TOKEN \\
      --name build-1 --executor docker --image node:20 --tags linux,docker`;

export function addRegister(program: Command, _context: CommandContext): void {
  const command = program
    .command('register')
    .description('Registers a runner at a server and keeps its token in the config file.')
    .addHelpText('after', example)
    .action(register);
  for (const made of [...serverOptions(), ...machineOptions(), ...dockerOptions()]) command.addOption(made);
}

function serverOptions(): Option[] {
  return [
    configOption(),
    option('--url <url>', 'address of the server').makeOptionMandatory(),
    option('--token <token>', 'registration token of the server or of a project'),
    option('--token-file <file>', 'file that holds the registration token').conflicts('token'),
    option('--name <name>', 'name of the runner here and on the server').default(hostname(), 'the host name'),
    option('--tags <list>', 'tags of the jobs it takes, with commas between')
      .default([], '')
      .argParser(parseList),
    flag('--if-missing [flag]', 'does nothing when there is a runner of this name already'),
    flag('--run-untagged [flag]', 'whether it takes jobs without tags; yes when it has no tags itself'),
    flag('--locked [flag]', 'keeps it to the projects it is enabled for'),
  ];
}

function machineOptions(): Option[] {
  return [
    option('--executor <name>', 'where builds run').choices(executorNames).default('docker'),
    option('--limit <number>', 'builds at the same time').argParser(parseCount),
    option('--builds-dir <directory>', 'working copies'),
    option('--cache-dir <directory>', 'caches of jobs'),
    option('--output-limit <size>', 'output of one build that is kept, such as 4m'),
  ];
}

function dockerOptions(): Option[] {
  return [
    option('--image <image>', 'image of jobs that name none'),
    option('--docker-host <address>', 'socket path or tcp address of the engine'),
    option('--pull-policy <policy>', 'when images are pulled').choices(pullPolicies),
    option('--memory <size>', 'limit of each container, such as 512m'),
    option('--cpus <number>', 'limit of each container').argParser(parseNumber),
    option('--pids-limit <number>', 'limit of each container').argParser(parseCount),
    flag('--privileged [flag]', 'gives jobs all rights on this machine'),
    option('--network-mode <name>', 'network that containers join, in place of one per build'),
    option('--volumes <list>', 'volumes of containers, with commas between').argParser(parseList),
    option('--allowed-images <list>', 'globs of images jobs may use').argParser(parseList),
    option('--allowed-services <list>', 'globs of service images jobs may use').argParser(parseList),
  ];
}

function flag(flags: string, description: string): Option {
  return option(flags, description).preset('true').argParser(parseFlag);
}

async function register(options: RegisterOptions, command: Command): Promise<void> {
  const { config: path, name } = options;
  const token = await registrationToken(options);
  if (!token) command.error('error: either --token or --token-file is needed');
  const before = await readConfigFile(path);
  if (before.runners?.some((runner) => runner.name === name)) {
    if (options.ifMissing) return print(`${name} is registered already`);
    throw new CommandFault(`there is a runner named ${name} already; choose another --name or unregister it`);
  }
  const { url, tags } = options;
  // Faults in the options must show before the server makes a runner of them.
  checkConfig({ runners: [entry(options, 'unknown')] }, 'register');
  const client = new RunnerClient({ url, info: runnerInfo });
  const runUntagged = options.runUntagged ?? tags.length === 0;
  const request = {
    registrationToken: token,
    description: name,
    tags,
    runUntagged,
    locked: options.locked ?? false,
  };
  const made = await client.registerRunner(request);
  try {
    const latest = await readConfigFile(path);
    await saveConfig(path, { ...latest, runners: [...(latest.runners ?? []), entry(options, made.token)] });
  } catch (error) {
    await client.unregisterRunner(made.token);
    throw error;
  }
  print(`Registered ${name} (runner ${made.id}) at ${url}; \`npm run runner -- run\` starts it`);
}

async function registrationToken({ token, tokenFile }: RegisterOptions): Promise<string | undefined> {
  if (tokenFile === undefined) return token;
  const text = await readFile(tokenFile, 'utf8').catch((error: Error) => {
    throw new CommandFault(`the token cannot be read: ${error.message}`);
  });
  return text.trim();
}

type Entry = NonNullable<ConfigFile['runners']>[number];

/** Only what was asked for: defaults may change with a later version. */
function entry(options: RegisterOptions, token: string): Entry {
  const docker = {
    host: options.dockerHost,
    image: options.image,
    pull_policy: options.pullPolicy,
    memory: options.memory,
    cpus: options.cpus,
    pids_limit: options.pidsLimit,
    privileged: options.privileged,
    network_mode: options.networkMode,
    volumes: options.volumes,
    allowed_images: options.allowedImages,
    allowed_services: options.allowedServices,
  };
  return {
    name: options.name,
    url: options.url,
    token,
    executor: options.executor,
    limit: options.limit,
    builds_dir: options.buildsDir,
    cache_dir: options.cacheDir,
    output_limit: options.outputLimit,
    ...(options.executor === 'docker' ? { docker } : {}),
  };
}
