import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface GitOptions {
  directory: string;
  /** The whole environment of git; nothing is inherited. */
  environment: Record<string, string>;
  signal: AbortSignal;
}

export interface GitResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A git command that ended with another exit code than 0. */
export class GitFault extends Error {
  override readonly name = 'GitFault';
  /** The server of the repository is away as a whole. */
  readonly isOutage: boolean;

  constructor(command: string, { exitCode, stderr }: GitResult) {
    super(`git ${command} failed (${exitCode}): ${stderr.trim()}`);
    this.isOutage = outageWords.test(stderr);
  }
}

/** What git says of a server that is not there, ends in the middle, or has a proxy say that it is away. */
const outageWords =
  /Failed to connect to|Could not resolve host|Empty reply from server|Connection reset by peer|Recv failure|unexpected disconnect|early EOF|returned error: (?:429|50[234])\b/;

const maxStderr = 64 * 1024;

/**
 * Runs git to its end; when the signal fires, git and all its children are killed.
 *
 * @throws the signal's reason, or Error when git cannot be started.
 */
export async function tryGit(args: string[], options: GitOptions): Promise<GitResult> {
  const { directory, environment, signal } = options;
  signal.throwIfAborted();
  const child = spawn('git', args, {
    cwd: directory,
    env: environment,
    // A group of its own: the helpers that git starts for http outlive a kill of git alone.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-maxStderr);
  });
  const kill = () => killGroup(child.pid);
  signal.addEventListener('abort', kill);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return { exitCode: code ?? 128, stdout: Buffer.concat(out).toString(), stderr };
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}

/** @throws GitFault with what git said, when the exit code is not 0. */
export async function runGit(args: string[], options: GitOptions): Promise<string> {
  const result = await tryGit(args, options);
  if (result.exitCode !== 0) throw new GitFault(args[0] ?? '', result);
  return result.stdout;
}

/** As `tryGit`, for commands that talk to a server. @throws GitFault when that is away. */
export async function tryRemote(args: string[], options: GitOptions): Promise<GitResult> {
  const result = await tryGit(args, options);
  if (result.exitCode === 0) return result;
  const fault = new GitFault(args[0] ?? '', result);
  if (fault.isOutage) throw fault;
  return result;
}

export interface CloneUrl {
  /** Without credentials. */
  url: string;
  /** Value of an Authorization header, or null. */
  authorization: string | null;
}

/** Takes the credentials out of a clone URL. Anything that is no http URL is left alone. */
export function splitCredentials(repoUrl: string): CloneUrl {
  if (!/^https?:\/\//i.test(repoUrl)) return { url: repoUrl, authorization: null };
  const url = new URL(repoUrl);
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  if (user === '' && password === '') return { url: url.href, authorization: null };
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  return { url: url.href, authorization: `Basic ${encoded}` };
}

/**
 * The environment that git runs in on this host. Settings travel in it, not on the command line, which other
 * users of the machine can read; the credentials go to the server of the clone URL only.
 *
 * @param host PATH and what else of the host git may see, such as the address of a proxy.
 */
export function gitEnvironment(host: Record<string, string>, clone: CloneUrl): Record<string, string> {
  const settings: [string, string][] = [
    ['safe.directory', '*'],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.sshCommand', 'false'],
    ['credential.helper', ''],
    ['protocol.ext.allow', 'never'],
    ['advice.detachedHead', 'false'],
    ['gc.auto', '0'],
    ['fetch.recurseSubmodules', 'false'],
    // A server that sends nothing at all for this many seconds is taken for dead.
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', '300'],
  ];
  if (clone.authorization !== null) {
    const server = `${new URL(clone.url).origin}/`;
    settings.push([`http.${server}.extraHeader`, `Authorization: ${clone.authorization}`]);
  }
  return {
    ...host,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_LFS_SKIP_SMUDGE: '1',
    ...configVariables(settings),
  };
}

function configVariables(settings: [string, string][]): Record<string, string> {
  const entries = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(entries) };
}
