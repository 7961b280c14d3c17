import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  blobStore,
  databaseUrl,
  listenAddress,
  mailAddress,
  oneOf,
  onOrOff,
  smtpServer,
  textLike,
  webAddress,
} from './config-parsers.ts';
import { nearest } from './nearest.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What the settings table and the faults say about a setting, beside its description. */
interface SettingNotes {
  description: string;
  /** Markdown for the column of defaults. */
  shownDefault: string;
  /** Its value never appears in a fault. */
  isSecret?: boolean;
}

function notes(setting: SettingNotes): Record<string, unknown> {
  return { ...setting };
}

const schema = z.object({
  HEARTH_DATA_DIR: textLike(/^[^\0]+$/, 'expected a path')
    .prefault('./data')
    .meta(
      notes({
        description: 'Directory of everything that must be kept: database, repositories, blobs, keys',
        shownDefault: '`./data`',
      }),
    ),
  HEARTH_LISTEN: listenAddress
    .prefault('127.0.0.1:3000')
    .meta(notes({ description: 'Address of the HTTP server', shownDefault: '`127.0.0.1:3000`' })),
  HEARTH_SSH_LISTEN: listenAddress
    .nullable()
    .prefault('127.0.0.1:2222')
    .meta(
      notes({
        description:
          'Address for git over SSH; empty: off. Clone URLs have its port, and the host of the base URL',
        shownDefault: '`127.0.0.1:2222`',
      }),
    ),
  HEARTH_BASE_URL: webAddress
    .optional()
    .meta(notes({ description: 'What URLs in answers start with', shownDefault: 'from the listen address' })),
  DATABASE_URL: databaseUrl.optional().meta(
    notes({
      description: 'An existing PostgreSQL (13 or later) to use',
      shownDefault: 'embedded PostgreSQL',
      isSecret: true,
    }),
  ),
  HEARTH_ROOT_PASSWORD: textLike(/^.{8,128}$/, 'expected 8 to 128 characters')
    .optional()
    .meta(
      notes({
        description: "First password of the user `root`, whose id is 1; later changes don't count",
        shownDefault: 'random, in `root-password` in the data directory',
        isSecret: true,
      }),
    ),
  HEARTH_ROOT_TOKEN: textLike(/^[\w-]{20}$/, 'expected exactly 20 letters, digits, - or _')
    .optional()
    .meta(
      notes({
        description: "root's private token, set at the first start",
        shownDefault: 'random',
        isSecret: true,
      }),
    ),
  HEARTH_RUNNERS_REGISTRATION_TOKEN: textLike(/^[\w-]{20,}$/, 'expected 20 or more letters, digits, - or _')
    .optional()
    .meta(
      notes({
        description: 'Token with which runners for all projects are registered',
        shownDefault: 'random; set it to register runners for all projects',
        isSecret: true,
      }),
    ),
  HEARTH_DEMO: onOrOff.optional().meta(
    notes({
      description: '`0`: no demo project; a new instance then holds nothing but root',
      shownDefault: '`1` at the first start',
    }),
  ),
  HEARTH_BUNDLED_RUNNER: onOrOff
    .optional()
    .meta(
      notes({ description: '`0`: start no runner beside the server', shownDefault: '`1` under `npm start`' }),
    ),
  HEARTH_CREATE_STATUS: oneOf(['documented', '201'])
    .prefault('documented')
    .meta(
      notes({
        description: '`201`: every request that creates something is answered 201, which some clients need',
        shownDefault: '`documented`',
      }),
    ),
  HEARTH_SIGN_INS_PER_MINUTE: textLike(/^\d{1,6}$/, 'expected a number')
    .prefault('10')
    .transform(Number)
    .meta(
      notes({
        description:
          'How often one address, and one account, may try a wrong password, but for git; `0`: no limit, as behind a proxy',
        shownDefault: '`10`',
      }),
    ),
  HEARTH_BLOBS: blobStore.prefault('file:').meta(
    notes({
      description: 'Store of artifacts, traces and uploads: `file:`. This version has no other',
      shownDefault: '`file:` (in the data directory)',
      isSecret: true,
    }),
  ),
  HEARTH_SMTP_URL: smtpServer.optional().meta(
    notes({
      description:
        'Mail server that messages are handed to: `smtp://USER:PASSWORD@HOST:PORT`, `smtps:` for TLS from the start. A password is sent over TLS only, but to this machine',
      shownDefault: 'none: no mail is sent',
      isSecret: true,
    }),
  ),
  HEARTH_MAIL_FROM: mailAddress
    .optional()
    .meta(notes({ description: 'Sender of messages', shownDefault: '`hearth@` the host of the base URL' })),
  HEARTH_SECRET_KEY: textLike(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal digits')
    .optional()
    .meta(
      notes({
        description:
          'Key that secrets in the database are encrypted with; the same for all servers on one database',
        shownDefault: 'random, in `secret-key` in the data directory',
        isSecret: true,
      }),
    ),
  HEARTH_LOG_LEVEL: oneOf(LOG_LEVELS)
    .optional()
    .meta(
      notes({
        description: `Least level that is logged to standard error: ${LOG_LEVELS.join(', ')}`,
        shownDefault: '`info`; `warn` on a terminal',
      }),
    ),
});

type SettingName = keyof typeof schema.shape;

const NAMES = Object.keys(schema.shape) as SettingName[];
/** Read by the tests and by the runner, which has settings of its own. */
const OTHERS = /^HEARTH_(TEST_|RUNNER_|REQUIRE_DOCKER$)/;
const FILE_SUFFIX = '_FILE';

export type Config = ReturnType<typeof toConfig>;

/** Reads all settings. Each fault is one line that names the variable, what is wrong and what is expected. */
export function readConfig(env: NodeJS.ProcessEnv): { config: Config } | { faults: string[] } {
  const faults = unknownNames(env);
  const values: Record<string, string | null> = {};
  for (const name of NAMES) {
    const found = readValue(env, name);
    if ('fault' in found) faults.push(found.fault);
    else if (found.value === '' && name === 'HEARTH_SSH_LISTEN') values[name] = null;
    else if (found.value) values[name] = found.value;
  }
  const result = schema.safeParse(values);
  if (result.success && faults.length === 0) return { config: toConfig(result.data) };
  for (const issue of result.error?.issues ?? []) {
    const name = issue.path[0] as SettingName;
    const given = settingNotes(name).isSecret ? 'its value is not valid' : `"${values[name]}" is not valid`;
    faults.push(`${name}: ${given}, ${issue.message}`);
  }
  return { faults };
}

/** Markdown table of all settings, for README. */
export function settingsTable(): string {
  const rows = NAMES.map((name) => {
    const { shownDefault, description } = settingNotes(name);
    return `| \`${name}\` | ${shownDefault} | ${description} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

function settingNotes(name: SettingName): SettingNotes {
  return schema.shape[name].meta() as unknown as SettingNotes;
}

function readValue(env: NodeJS.ProcessEnv, name: SettingName): { value?: string } | { fault: string } {
  const path = env[name + FILE_SUFFIX];
  if (!path) return { value: env[name] };
  if (env[name] !== undefined) {
    return { fault: `${name}: it is set twice, also by ${name}${FILE_SUFFIX}, expected one of the two` };
  }
  try {
    return { value: readFileSync(path, 'utf8').replace(/\r?\n$/, '') };
  } catch (error) {
    const reason = (error as Error).message;
    return { fault: `${name}${FILE_SUFFIX}: ${reason}, expected a readable file with the value of ${name}` };
  }
}

function unknownNames(env: NodeJS.ProcessEnv): string[] {
  const known = NAMES.flatMap((name): string[] => [name, name + FILE_SUFFIX]);
  return Object.keys(env)
    .filter((name) => name.startsWith('HEARTH_') && !OTHERS.test(name) && !known.includes(name))
    .sort()
    .map((name) => `${name}: there is no such setting, did you mean ${nearest(name, known)}?`);
}

function toConfig(values: z.output<typeof schema>) {
  return {
    dataDir: values.HEARTH_DATA_DIR,
    listen: values.HEARTH_LISTEN,
    sshListen: values.HEARTH_SSH_LISTEN,
    /** Without a slash at its end. */
    baseUrl: values.HEARTH_BASE_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    rootPassword: values.HEARTH_ROOT_PASSWORD ?? null,
    rootToken: values.HEARTH_ROOT_TOKEN ?? null,
    runnersRegistrationToken: values.HEARTH_RUNNERS_REGISTRATION_TOKEN ?? null,
    demo: values.HEARTH_DEMO ?? null,
    bundledRunner: values.HEARTH_BUNDLED_RUNNER ?? null,
    createStatus: values.HEARTH_CREATE_STATUS,
    signInsPerMinute: values.HEARTH_SIGN_INS_PER_MINUTE,
    blobs: values.HEARTH_BLOBS,
    smtp: values.HEARTH_SMTP_URL ?? null,
    mailFrom: values.HEARTH_MAIL_FROM ?? null,
    secretKey: values.HEARTH_SECRET_KEY ?? null,
    logLevel: values.HEARTH_LOG_LEVEL ?? null,
  };
}
