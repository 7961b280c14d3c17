import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ByteSize, DockerOptions } from './executor/docker-options.ts';

/** `auto`: docker when an engine answers and has the default image or can fetch it, else shell. */
export const executorNames = ['docker', 'shell', 'auto'] as const;
export type ExecutorName = (typeof executorNames)[number];

/** One registration: a runner as a server knows it. */
export const Registration = z.strictObject({
  /** Unique in the file. */
  name: z.string().min(1).max(255),
  /** Address of the server, with or without `/ci`. */
  url: z.url({ protocol: /^https?$/, message: 'must be an http or https address' }),
  /** Of the runner, as the registration returned it. */
  token: z.string().min(1),
  executor: z.enum(executorNames).default('docker'),
  /** Builds of this registration at the same time; absent means as many as `concurrent` allows. */
  limit: z.number().int().positive().optional(),
  /** Working copies; by default `builds` beside the config file. */
  builds_dir: z.string().startsWith('/').optional(),
  /** Caches of jobs; by default `cache` beside the config file. */
  cache_dir: z.string().startsWith('/').optional(),
  /** Output of one build, in bytes; the rest is dropped. */
  output_limit: ByteSize.prefault('4m'),
  /** Variables for all builds; those of the server win. */
  environment: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
  docker: DockerOptions.prefault({}),
});
export type Registration = z.infer<typeof Registration>;

export const RunnerConfig = z.strictObject({
  /** Builds of this process at the same time. */
  concurrent: z.number().int().min(0).default(1),
  /** Seconds between two questions to a server that answers at once. */
  check_interval: z.number().positive().default(3),
  runners: z
    .array(Registration)
    .default([])
    .refine((runners) => new Set(runners.map((runner) => runner.name)).size === runners.length, {
      message: 'two runners have the same name',
    }),
});
export type RunnerConfig = z.infer<typeof RunnerConfig>;

/** What the file holds: as the schema takes it, so that defaults are not written down for ever. */
export type ConfigFile = z.input<typeof RunnerConfig>;

/** The config file cannot be used; the message has one line per fault. */
export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';
}

export function defaultConfigPath(): string {
  return join(homedir(), '.hearth-runner', 'config.json');
}

/**
 * @returns the settings; those of an empty file when there is none.
 * @throws ConfigFault.
 */
export async function loadConfig(path: string): Promise<RunnerConfig> {
  return checkConfig(await readConfigFile(path), path);
}

/** What stands in the file, without defaults; checked all the same. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new ConfigFault(`${path}: ${error.message}`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigFault(`${path}: no JSON: ${(error as Error).message}`);
  }
  checkConfig(value, path);
  return value as ConfigFile;
}

/**
 * @param source what the lines of the fault begin with.
 * @throws ConfigFault.
 */
export function checkConfig(value: unknown, source: string): RunnerConfig {
  const parsed = RunnerConfig.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const place = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
    return `${source}: ${place.join('').replace(/^\./, '') || 'config'}: ${issue.message}`;
  });
  throw new ConfigFault(lines.join('\n'));
}

/** Replaces the file in one step; only its owner may read it, since it holds tokens. */
export async function saveConfig(path: string, config: ConfigFile): Promise<void> {
  checkConfig(config, path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const aside = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(aside, 'wx', 0o600);
    await file.writeFile(`${JSON.stringify(config, null, 2)}\n`);
    await file.sync();
    await file.close();
    await rename(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
}
