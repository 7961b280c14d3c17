import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseBranch } from './default-branch.ts';
import { type ConfigEntry, toleratedFaults } from './environment.ts';
import { GitError } from './errors.ts';
import { ImportFault } from './import-fault.ts';
import { openRelay, type Relay, type RelayRequest } from './import-relay.ts';
import { linkObjects } from './link-objects.ts';
import { writePackedRefs } from './packed-refs.ts';
import { isUsableRef } from './ref-name.ts';
import { listRefs, type Ref } from './refs.ts';
import { initRepository, setHead } from './repository.ts';
import { runGit } from './run-git.ts';

export interface FetchLimits {
  /** For all of it. */
  timeMs: number;
  /** Of what arrives, as it lies on the disk. */
  bytes: number;
}

export interface FetchRequest extends RelayRequest {
  /** Where it is fetched to; nothing is there yet. */
  dir: string;
  limits: FetchLimits;
  /** Ends git, and what it was doing fails. */
  signal?: AbortSignal;
}

/** What was fetched. */
export interface Fetched {
  dir: string;
  /** Branches and tags, in git's order. */
  refs: Ref[];
  /** The default branch; null when there is no branch. */
  branch: string | null;
}

const sizeLookMs = 500;

/**
 * Fetches branches and tags of a repository elsewhere, and nothing else of it, into a repository of its own. What
 * arrives is checked as pushes are.
 *
 * @throws ImportFault when that is not possible.
 */
export async function fetchRepository(request: FetchRequest): Promise<Fetched> {
  const { dir, limits } = request;
  await initRepository(dir);
  const way = await wayTo(request);
  const watch = watchSize(request);
  try {
    const git = (args: string[]) =>
      runGit({ dir, args, attempted: 'import', timeoutMs: limits.timeMs, signal: watch.signal, ...way });
    const head = await git(['ls-remote', '--symref', '--', way.url, 'HEAD']);
    await git([...fetchArguments, '--', way.url, ...refspecs]);
    await watch.look();
    if (watch.isTooLarge()) throw new ImportFault(tooLarge(limits));
    const refs = (await listRefs(dir)).filter(({ name }) => isUsableRef(name));
    return { dir, refs, branch: chooseBranch(refs, headOf(head.stdout.toString('utf8'), refs)) };
  } catch (error) {
    throw asFault(error, { isTooLarge: watch.isTooLarge(), way, ...request });
  } finally {
    watch.stop();
    await way.relay?.close();
  }
}

/**
 * Puts what was fetched into an empty repository that nobody pushes to. Others see it before or after, but no half
 * of it; after a crash it can be done again, with the same or with something else.
 */
export async function installFetched({ dir, refs, branch }: Fetched, target: string): Promise<void> {
  await linkObjects(dir, target);
  if (branch !== null) await setHead(target, branch);
  await writePackedRefs(target, refs);
}

const refspecs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
const fetchArguments = [
  'fetch',
  // An orphaned git ends at its first word that nobody hears.
  '--progress',
  '--no-tags',
  '--no-recurse-submodules',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
];

const fetchConfig: readonly ConfigEntry[] = [
  ['protocol.allow', 'never'],
  ['http.followRedirects', 'false'],
  ['http.proxy', ''],
  ['fetch.fsckObjects', 'true'],
  ...toleratedFaults.map((fault): ConfigEntry => [`fetch.fsck.${fault}`, 'ignore']),
  ['fetch.unpackLimit', '1'],
  ['fetch.recurseSubmodules', 'false'],
  // Its refs are packed into one file where they go, so they need neither logs nor a sync each.
  ['core.logAllRefUpdates', 'false'],
  ['core.fsync', 'committed'],
];

interface Way {
  /** What git is told; without credentials. */
  url: string;
  config: readonly ConfigEntry[];
  relay?: Relay;
}

async function wayTo(request: FetchRequest): Promise<Way> {
  const url = new URL(request.url);
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    const relay = await openRelay(request);
    const own: ConfigEntry[] = [
      ['protocol.http.allow', 'always'],
      ['http.extraHeader', relay.header],
    ];
    return { url: relay.url, relay, config: [...fetchConfig, ...own] };
  }
  const [first] = await request.resolve(url.hostname).catch((error: NodeJS.ErrnoException) => {
    throw new ImportFault(error.code ? `${url.host} is not known to the name servers` : error.message);
  });
  const address = first?.address ?? '';
  return url.protocol === 'ssh:' ? wayBySsh(url, address) : wayByGit(url, address);
}

/** The name goes no further: git would ask for its address again. */
function wayByGit(url: URL, address: string): Way {
  const host = address.includes(':') ? `[${address}]` : address;
  const port = url.port === '' ? '' : `:${url.port}`;
  return {
    url: `git://${host}${port}${url.pathname}`,
    config: [...fetchConfig, ['protocol.git.allow', 'always']],
  };
}

/** Without key or password: for what anybody may read. Git gives the command to a shell. */
function wayBySsh(url: URL, address: string): Way {
  const options = [
    `HostName=${address}`,
    `HostKeyAlias=${url.hostname.replace(/[[\]]/g, '')}`,
    'BatchMode=yes',
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'IdentityFile=none',
    'IdentityAgent=none',
    'ClearAllForwardings=yes',
    'ConnectTimeout=30',
    'ServerAliveInterval=30',
  ];
  const command = ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', option])].join(' ');
  const own: ConfigEntry[] = [
    ['protocol.ssh.allow', 'always'],
    ['core.sshCommand', command],
    ['ssh.variant', 'ssh'],
  ];
  return { url: url.href, config: [...fetchConfig, ...own] };
}

/** What the other side's HEAD names; where it does not say so, a branch that is where its HEAD is. */
function headOf(listing: string, refs: readonly Ref[]): string | null {
  const named = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listing)?.[1];
  if (named !== undefined) return named;
  const sha = /^([0-9a-f]{40})\tHEAD$/m.exec(listing)?.[1];
  return chooseBranch(
    refs.filter((ref) => ref.sha === sha),
    null,
  );
}

function watchSize({ dir, limits: { bytes }, signal }: FetchRequest) {
  const stop = new AbortController();
  let isTooLarge = false;
  async function look(): Promise<void> {
    if ((await packSize(dir)) <= bytes) return;
    isTooLarge = true;
    stop.abort();
  }
  const timer = setInterval(look, sizeLookMs);
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  return { signal: either, look, isTooLarge: () => isTooLarge, stop: () => clearInterval(timer) };
}

/** All that a fetch writes but the names of refs. */
async function packSize(dir: string): Promise<number> {
  const folder = join(dir, 'objects', 'pack');
  const names = await readdir(folder).catch(() => []);
  // A file that goes meanwhile is none.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function tooLarge({ bytes }: FetchLimits): string {
  return `the repository is larger than ${bytes} bytes`;
}

interface Failed extends FetchRequest {
  isTooLarge: boolean;
  way: Way;
}

function asFault(error: unknown, { isTooLarge, limits, url, way }: Failed): unknown {
  if (!(error instanceof GitError)) return error;
  if (isTooLarge) return new ImportFault(tooLarge(limits));
  if (error.stderr.startsWith('not done after')) {
    return new ImportFault(`the import took longer than ${limits.timeMs / 1000} seconds`);
  }
  const fault = way.relay?.fault();
  if (fault) return fault;
  return new ImportFault(
    lastWords(error.stderr, (line) => line.replaceAll(way.url, url)),
    { cause: error },
  );
}

/** What git itself found wrong, without its progress and warnings. */
function lastWords(stderr: string, readable: (line: string) => string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .filter((line) => /^(?:error|fatal|ssh): |Permission denied/.test(line));
  const said = lines.slice(0, 3).map(readable);
  return said.join('; ') || 'git could not fetch the repository';
}
