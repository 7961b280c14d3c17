/** Who may import whom. A folder means the files directly in it; a file, that file alone. */
export interface FolderRule {
  /** What may be imported for its values. */
  may: string[];
  /** What may be imported for its types alone. */
  types?: string[];
}

const shared = ['shared', 'shared/protocol'];
/** What every part of the server that answers or changes something stands on. */
const ground = [
  'server/errors.ts',
  'server/sql.ts',
  'server/secrets.ts',
  'server/policy',
  'server/queries',
  ...shared,
];
const endpoints = [
  ...ground,
  'server/http',
  'server/present',
  'server/actions',
  'server/git',
  'server/storage',
  'server/ci',
  'server/hooks',
  'server/mail',
  'server/oauth',
  'server/outgoing.ts',
];
const services = ['server/services.ts'];

/** Files directly in `server/` and `runner/` are not listed: they put the parts together and may import any. */
export const folderRules: Record<string, FolderRule> = {
  shared: { may: [] },
  'shared/protocol': { may: ['shared'] },

  'server/entities': { may: shared, types: ['server/ci'] },
  'server/migrations': { may: [] },
  'server/ci': { may: shared },
  'server/git': { may: ['server/errors.ts', ...shared] },
  'server/storage': { may: ['server/errors.ts', ...shared] },
  'server/postgres': {
    may: ['server/data-dir.ts', 'server/process-lock.ts', 'server/start-error.ts', ...shared],
  },
  'server/policy': { may: ['server/errors.ts', ...shared], types: ['server/entities'] },
  'server/queries': {
    may: ['server/sql.ts', 'server/secrets.ts', 'server/policy', 'server/git/repository-path.ts', ...shared],
    types: ['server/entities', 'server/ci', ...services],
  },
  'server/present': {
    may: ['server/ci', 'server/policy/work-in-progress.ts', 'server/version.ts', ...shared],
    types: ['server/queries', 'server/entities', 'server/git', 'server/policy'],
  },
  'server/references': { may: shared },
  'server/http': {
    may: [...ground, 'server/database-errors.ts', 'server/git/errors.ts', 'server/version.ts'],
    types: services,
  },
  'server/actions': {
    may: [
      ...ground,
      'server/entities',
      'server/ci',
      'server/database-errors.ts',
      'server/disk-full.ts',
      'server/git',
      'server/hooks/announce.ts',
      'server/hooks/announce-noteable.ts',
      'server/mail/happening.ts',
      'server/mail/queue-mail.ts',
      'server/oauth/end-sessions.ts',
      'server/outgoing.ts',
      'server/references',
      'server/storage',
      'server/wakeups.ts',
    ],
    types: services,
  },
  'server/hooks': {
    may: [
      ...ground,
      'server/database-errors.ts',
      'server/entities',
      'server/git',
      'server/outgoing.ts',
      'server/present',
    ],
    types: services,
  },
  'server/mail': { may: [...ground, 'server/entities', 'server/git'], types: services },
  'server/oauth': { may: [...ground, 'server/entities', 'server/http'], types: services },
  'server/jobs': {
    may: [
      ...ground,
      'server/actions',
      'server/database-errors.ts',
      'server/git',
      'server/hooks',
      'server/mail',
      'server/oauth',
      'server/storage',
    ],
    types: ['server/queue.ts', ...services],
  },
  'server/api': { may: endpoints, types: services },
  'server/runner-api': { may: endpoints, types: services },
  'server/transport': {
    may: [...ground, 'server/actions', 'server/ci', 'server/git'],
    types: services,
  },
  'server/web': { may: [...endpoints, 'server/transport'], types: services },
  'server/ssh': {
    may: [
      ...ground,
      'server/actions',
      'server/data-dir.ts',
      'server/database-errors.ts',
      'server/git',
      'server/start-error.ts',
      'server/transport',
    ],
    types: services,
  },
  'server/launch': {
    may: [...ground, 'server/actions', 'server/git', 'server/process-lock.ts', 'server/start-error.ts'],
    types: services,
  },

  'runner/executor': { may: shared },
  'runner/executor/docker': { may: ['runner/executor', ...shared] },
  'runner/executor/shell': { may: ['runner/executor', ...shared] },
  'runner/job': {
    may: ['runner/executor/executor-error.ts', ...shared],
    types: ['runner/executor/executor.ts'],
  },
  'runner/commands': { may: ['runner', 'runner/executor/docker-options.ts', ...shared] },
};

/** Packages that only these folders and files may import, wherever else they could be reached from. */
export const packageRules: Record<string, string[]> = {
  'node:child_process': [
    'runner/executor/shell',
    'runner/job/git.ts',
    'runner/start.js',
    'server/git',
    'server/install.js',
    'server/launch/bundled-runner.ts',
    'server/postgres',
    'server/process-lock.ts',
  ],
  execa: ['runner/executor/shell', 'runner/job/git.ts', 'server/git', 'server/postgres'],
  dockerode: ['runner/executor/docker'],
  'tar-stream': ['runner/executor/docker'],
  got: ['runner', 'server/outgoing.ts'],
  koa: ['server/app.ts', 'server/http', 'server/web'],
  '@koa/router': ['server/http', 'server/web'],
  'koa-body': ['server/http'],
  pg: ['server', 'server/jobs', 'server/postgres'],
  'graphile-worker': ['server/jobs', 'server/migrate.ts'],
  ssh2: ['server/ssh'],
  yaml: ['server/ci'],
  re2js: ['server/ci'],
  nodemailer: ['server/mail'],
  '@node-oauth/oauth2-server': ['server/oauth'],
  '@rexxars/choosealicense-list': ['server/api'],
};

/** The only places that see the environment of the process; everybody else gets what it needs handed over. */
export const environmentReaders = [
  'runner/config.ts',
  'runner/start.js',
  'server/config.ts',
  'server/config-parsers.ts',
  'server/install.js',
  'server/start.js',
];

export const forbiddenFolders = ['utils', 'helpers', 'common', 'lib', 'core', 'base', 'types'];

/** Longest file and longest function, in lines. */
export const longest = { file: 400, function: 60 };
