/** Who moves a ref; stands in the ref's log. */
export interface Identity {
  name: string;
  /** Letters, digits and `.+@_-`, so that git writes it into the log unchanged. */
  email: string;
}

export type ConfigEntry = readonly [key: string, value: string];

export interface EnvironmentOptions {
  identity?: Identity | undefined;
  /** The value of a client's Git-Protocol header. Anything but a plain known version is dropped. */
  protocol?: string | undefined;
  /** Added after, and so winning over, the fixed configuration. */
  config?: readonly ConfigEntry[] | undefined;
  /** Folder of objects that are read as if they were the repository's own. */
  alternate?: string | undefined;
  /** Git tells on its fourth channel what it does, in lines of JSON, and so do those that it starts. */
  isTraced?: boolean | undefined;
}

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** Harmless faults that old, honest histories carry; refusing them would refuse well-known repositories. */
export const toleratedFaults = [
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'zeroPaddedFilemode',
  'zeroPaddedDate',
  'missingNameBeforeEmail',
  'badTagName',
  'missingTaggerEntry',
  'gitmodulesParse',
];

/** Bytes of the largest file that git looks into; whatever is in a larger one, it tells of bytes that differ. */
export const bigFileThreshold = 32 * 1024 * 1024;

const fixedConfig: readonly ConfigEntry[] = [
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  ['core.logAllRefUpdates', 'always'],
  // What a client was told is stored must survive a power cut; by default refs and loose objects need not.
  ['core.fsync', 'committed,reference'],
  ['core.fsyncMethod', 'fsync'],
  ['core.filesRefLockTimeout', '1000'],
  // Larger objects are streamed instead of being held in memory and compared with each other.
  ['core.bigFileThreshold', String(bigFileThreshold)],
  ['pack.windowMemory', '64m'],
  ['transfer.hideRefs', 'refs/keep-around'],
  ['receive.fsckObjects', 'true'],
  ...toleratedFaults.map((fault): ConfigEntry => [`receive.fsck.${fault}`, 'ignore']),
  ['receive.advertisePushOptions', 'true'],
  // Each loose object costs a sync of its own, so middling pushes are cheaper kept as one pack.
  ['receive.unpackLimit', '32'],
  ['receive.autogc', 'false'],
  ['uploadpack.allowTipSHA1InWant', 'true'],
  ['uploadpack.allowReachableSHA1InWant', 'true'],
  ['uploadpack.allowFilter', 'true'],
  ['gc.auto', '0'],
  // The log of a ref says which push moved it, so its lines must not expire by themselves.
  ['gc.reflogExpire', 'never'],
  ['gc.reflogExpireUnreachable', 'never'],
];

/** The whole environment of a git process: nothing of the server's own environment reaches it. */
export function gitEnvironment(options: EnvironmentOptions = {}): Record<string, string> {
  const identity = checkIdentity(options.identity ?? { name: 'Hearth', email: 'hearth@localhost' });
  const environment: Record<string, string> = {
    PATH: searchPath,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Into a pipe, git would write each line of a long list by itself.
    GIT_FLUSH: '0',
    // A pushed refs/replace/* must not change what an object reads as.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_AUTHOR_NAME: identity.name,
    GIT_AUTHOR_EMAIL: identity.email,
    GIT_COMMITTER_NAME: identity.name,
    GIT_COMMITTER_EMAIL: identity.email,
  };
  if (options.protocol !== undefined && /^version=[0-2]$/.test(options.protocol)) {
    environment.GIT_PROTOCOL = options.protocol;
  }
  if (options.alternate !== undefined) {
    // In quotes, since the bare form is a list.
    environment.GIT_ALTERNATE_OBJECT_DIRECTORIES = `"${options.alternate.replace(/["\\]/g, '\\$&')}"`;
  }
  if (options.isTraced) {
    environment.GIT_TRACE2_EVENT = '3';
    environment.GIT_TRACE2_ENV_VARS = 'GIT_QUARANTINE_PATH';
  }
  addConfig(environment, [...fixedConfig, ...(options.config ?? [])]);
  return environment;
}

function addConfig(environment: Record<string, string>, entries: readonly ConfigEntry[]): void {
  environment.GIT_CONFIG_COUNT = String(entries.length);
  for (const [index, [key, value]] of entries.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
}

function checkIdentity(identity: Identity): Identity {
  if (!/^[\w.+@-]+$/.test(identity.email)) throw new TypeError(`not an identity's e-mail: ${identity.email}`);
  // git drops these characters itself, and refuses a name of which nothing is left. What looks like an object
  // id would make a line of a ref's log ambiguous.
  const name = identity.name.replace(/[<>\p{Cc}]|[0-9a-f]{40}/gu, '').trim();
  return { name: /[\p{L}\p{N}]/u.test(name) ? name : 'unnamed', email: identity.email };
}
