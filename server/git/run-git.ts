import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { type EnvironmentOptions, gitEnvironment } from './environment.ts';
import { GitError, GitTimeoutError } from './errors.ts';

export interface GitCall extends EnvironmentOptions {
  /** The repository's directory, absolute. Left out by the few commands that take it as an argument. */
  dir?: string;
  args: readonly string[];
  /** It takes only the time of the processor that nobody else wants. */
  isBackground?: boolean;
}

export interface GitEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Set when the process could not be started at all. */
  failure?: Error;
}

export interface GitProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Settles when git has exited and said its last word on stderr; never rejects. */
  readonly ended: Promise<GitEnd>;
  /** Ends git and what it started: politely, so that it removes its lock files, then by force. */
  kill(): void;
  /** Ends git at once. For processes that only read: others would leave lock files behind. */
  killNow(): void;
  /** The last 4 KB of stderr so far. */
  stderr(): string;
}

const graceMs = 5_000;
const stderrTail = 4_096;

/**
 * Starts git in a process group of its own: a Ctrl-C at the server's terminal lets running pushes finish,
 * and ending a call also ends the helpers git started for it.
 */
export function spawnGit(call: GitCall): GitProcess {
  const args = call.dir === undefined ? call.args : [`--git-dir=${call.dir}`, ...call.args];
  const stdio = Array.from({ length: call.isTraced ? 4 : 3 }, () => 'pipe' as const);
  const options = { cwd: '/', env: gitEnvironment(call), detached: true, stdio };
  const child = spawn('git', args, options) as ChildProcessWithoutNullStreams;
  if (call.isBackground) giveWay(child);
  let tail = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    tail = (tail + text).slice(-stderrTail);
  });
  // A process that stops reading is judged by its exit code, not by the broken pipe.
  child.stdin.on('error', () => undefined);
  const ended = endOf(child);
  return {
    child,
    ended,
    kill: () => terminate(child, ended),
    killNow: () => signalGroup(child, 'SIGKILL'),
    stderr: () => tail,
  };
}

/** What git starts for its work inherits it. */
function giveWay({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, 15);
  } catch {
    // It has ended already.
  }
}

function endOf(child: ChildProcessWithoutNullStreams): Promise<GitEnd> {
  const saidAll = new Promise<void>((resolve) => child.stderr.once('close', resolve));
  const exited = new Promise<GitEnd>((resolve) => {
    child.once('error', (failure) => resolve({ code: null, signal: null, failure }));
    child.once('exit', (code, signal) => {
      // Killed from outside, it could not end its helpers, which hold the pipes open.
      if (signal !== null) signalGroup(child, 'SIGKILL');
      resolve({ code, signal });
    });
  });
  return exited.then((end) => (end.failure ? end : saidAll.then(() => end)));
}

function terminate(child: ChildProcessWithoutNullStreams, ended: Promise<GitEnd>): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  signalGroup(child, 'SIGTERM');
  const force = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  void ended.then(() => clearTimeout(force));
}

function signalGroup(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The whole group has gone already, which is what was wanted.
  }
}

export interface RunOptions extends GitCall {
  /** What is wanted, for the error message. */
  attempted: string;
  input?: string | Buffer;
  /** Exit codes that are answers rather than failures; 0 always is. */
  answers?: readonly number[];
  /** Bytes of stdout to hold at most; 16 MB unless told. */
  limit?: number;
  /** Gets stdout piece by piece; none of it is held then, and there may be as much of it as there is. */
  take?: (piece: Buffer) => void;
  /** One minute unless told. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs git to its end and gives back its exit code and stdout.
 * Throws a GitError on an unexpected exit code, an abort, or more output than allowed; a GitTimeoutError on a timeout.
 */
export async function runGit(options: RunOptions): Promise<{ code: number; stdout: Buffer }> {
  options.signal?.throwIfAborted();
  const git = spawnGit(options);
  const stop = stopper(git, options);
  const { take, limit = 16 * 1024 * 1024 } = options;
  const output = take ? passOn(git, take) : collect(git, { limit, stop: stop.because });
  git.child.stdin.end(options.input ?? '');
  const end = await git.ended;
  const stdout = await output;
  stop.clear();
  const reason = stop.reason();
  const isAnswer = end.code === 0 || (end.code !== null && options.answers?.includes(end.code));
  if (reason !== undefined || !isAnswer || end.code === null) {
    const stderr = reason ?? git.stderr();
    const failure = { attempted: options.attempted, exitCode: end.code, stderr, cause: end.failure };
    throw stop.isLate() ? new GitTimeoutError(failure) : new GitError(failure);
  }
  return { code: end.code, stdout };
}

function stopper(git: GitProcess, options: RunOptions) {
  let reason: string | undefined;
  function because(why: string): void {
    reason ??= why;
    git.kill();
  }
  const timeoutMs = options.timeoutMs ?? 60_000;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = reason === undefined;
    because(`not done after ${timeoutMs} ms`);
  }, timeoutMs);
  const onAbort = () => because('aborted');
  options.signal?.addEventListener('abort', onAbort, { once: true });
  function clear(): void {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
  return { because, clear, reason: () => reason, isLate: () => isLate };
}

function collect(git: GitProcess, options: { limit: number; stop: (why: string) => void }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  git.child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > options.limit) options.stop(`more than ${options.limit} bytes of output`);
    else chunks.push(chunk);
  });
  return new Promise((resolve) => git.child.stdout.once('close', () => resolve(Buffer.concat(chunks))));
}

function passOn(git: GitProcess, take: (piece: Buffer) => void): Promise<Buffer> {
  git.child.stdout.on('data', take);
  return new Promise((resolve) => git.child.stdout.once('close', () => resolve(Buffer.alloc(0))));
}
