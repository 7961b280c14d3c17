import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import type { ConfigEntry, Identity } from './environment.ts';
import { GitError, GitProtocolError } from './errors.ts';
import { flushPkt, pktLine } from './pkt-line.ts';
import { quarantineOf } from './push-trace.ts';
import { decodeBody, feedGit } from './request-body.ts';
import { type GitEnd, type GitProcess, spawnGit } from './run-git.ts';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

const uploadRequestLimit = 64 * 1024 * 1024;
const uploadStallMs = 600_000;
const receiveTimeoutMs = 3_600_000;
const starveMs = 30_000;

const uncached = { Expires: 'Fri, 01 Jan 1980 00:00:00 GMT', Pragma: 'no-cache' };

/** Headers of an answer; `kind` is `advertisement` for `info/refs`, else `result`. */
export function smartHttpHeaders(
  service: GitService,
  kind: 'advertisement' | 'result',
): Record<string, string> {
  return {
    'Content-Type': `application/x-${service}-${kind}`,
    'Cache-Control': 'no-cache, max-age=0, must-revalidate',
    ...uncached,
  };
}

export interface AdvertiseRequest {
  dir: string;
  service: GitService;
  /** The client's Git-Protocol header. */
  protocol?: string | undefined;
  /** Aborts when the client goes away. */
  signal?: AbortSignal | undefined;
  /** Over SSH the client has named the service itself, and is told of the refs alone. */
  unannounced?: boolean;
}

/** The answer to `GET info/refs?service=…`. Throws a GitError when git cannot read the repository. */
export async function advertiseRefs(
  request: AdvertiseRequest,
): Promise<{ headers: Record<string, string>; body: Readable }> {
  const { service, dir } = request;
  const protocol = protocolFor(service, request.protocol);
  const command = service.slice('git-'.length);
  const args = [command, '--stateless-rpc', '--http-backend-info-refs', dir];
  const git = spawnGit({ args, protocol });
  git.child.stdin.end();
  killOnAbort(git, request.signal);
  const chunks = outputOf(git, `list the refs of ${dir}`);
  const first = await chunks.next();
  // The second version has no announcement of the service; older clients insist on it.
  const isBare = protocol === 'version=2' || request.unannounced === true;
  const announcement = isBare ? [] : [pktLine(`# service=${service}\n`), flushPkt];
  const start = first.done ? announcement : [...announcement, first.value];
  return {
    headers: smartHttpHeaders(service, 'advertisement'),
    body: toReadable(prepend(start, chunks), git),
  };
}

export interface UploadPackRequest {
  dir: string;
  body: Readable;
  protocol?: string | undefined;
  /** Whether the body came with `Content-Encoding: gzip`. */
  gzip?: boolean;
  signal?: AbortSignal | undefined;
  /** Bytes of the request, unpacked; 64 MB unless told. */
  requestLimit?: number;
  /** Git is ended when the client has taken nothing for so long; 10 minutes unless told. */
  stallMs?: number;
}

/**
 * Answers a fetch. Complaints of git reach the client inside the stream; the stream fails only when git died
 * or said nothing at all, with a GitProtocolError when that was because of the request.
 */
export function uploadPack(request: UploadPackRequest): Readable {
  const { dir, signal } = request;
  const protocol = protocolFor('git-upload-pack', request.protocol);
  const git = spawnGit({ args: ['upload-pack', '--stateless-rpc', '--strict', dir], protocol });
  killOnAbort(git, signal);
  const limit = request.requestLimit ?? uploadRequestLimit;
  const body = decodeBody(request.body, { gzip: request.gzip, limit });
  feedGit(body, git);
  const stall = setTimeout(() => git.kill(), request.stallMs ?? uploadStallMs);
  void git.ended.then(() => clearTimeout(stall));
  const output = outputOf(git, `send a pack of ${dir}`, () => stall.refresh());
  return toReadable(blamingRequest(output, body), git);
}

/** What git says when it cannot make sense of a request, before it says anything to the client. */
const senseless =
  /protocol error|hung up unexpectedly|unknown capability|no command requested|expected flush|unexpected line/;

async function* blamingRequest(output: AsyncGenerator<Buffer>, body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* output;
  } catch (error) {
    if (body.errored instanceof GitProtocolError) throw body.errored;
    if (!(error instanceof GitError) || error.exitCode !== 128 || !senseless.test(error.stderr)) throw error;
    throw new GitProtocolError('a request that git cannot make sense of', { cause: error });
  }
}

/**
 * Waits for the first bytes of an answer: one that fails before them can still become another. When the client
 * has gone meanwhile it is an empty one, which nobody reads.
 */
export async function begun(answer: Readable, signal: AbortSignal): Promise<Readable> {
  try {
    await once(answer, 'readable');
    return answer;
  } catch (error) {
    if (signal.aborted) return Readable.from([]);
    throw error;
  }
}

export interface ReceivePackRequest {
  dir: string;
  /** The whole body, as `readCommands` gives it back. */
  body: Readable;
  protocol?: string | undefined;
  gzip?: boolean;
  /** Stands in the log of each ref that this push moves. */
  identity: Identity;
  /** Of `guardMoves`: what this push must not do. */
  guard?: readonly ConfigEntry[];
  signal?: AbortSignal | undefined;
  /** Bytes the pack may have; unbounded unless told. */
  packLimit?: number;
  /** One hour unless told. */
  timeoutMs?: number;
}

/**
 * Takes a push. A client that goes away before it has sent everything ends git; later ones do not, since git
 * may be about to move refs. It ends by reading that there is no more, so that it removes what it has received:
 * git does not when a signal ends it. `done` settles when git has ended, never rejects, and says nothing about which
 * refs moved: see `wasApplied`. The output needs no reader for `done` to settle. `quarantine` is that of `quarantineOf`.
 */
export function receivePack(request: ReceivePackRequest): {
  output: Readable;
  done: Promise<GitEnd>;
  quarantine: Promise<string | null>;
} {
  const { dir, identity, guard = [] } = request;
  const limit: ConfigEntry = ['receive.maxInputSize', String(request.packLimit ?? 0)];
  const config = [limit, ...guard];
  const protocol = protocolFor('git-receive-pack', request.protocol);
  const args = ['receive-pack', '--stateless-rpc', dir];
  const git = spawnGit({ args, protocol, identity, config, isTraced: true });
  const body = decodeBody(request.body, { gzip: request.gzip });
  const releaseSignal = onAbort(git, request.signal, () => starve(git));
  body.once('end', releaseSignal);
  feedGit(body, git);
  const timer = setTimeout(() => {
    starve(git);
    body.destroy();
  }, request.timeoutMs ?? receiveTimeoutMs);
  void git.ended.then(() => clearTimeout(timer));
  // Held here, not in git's pipe: with nobody reading, git would stop in the middle of its work.
  const output = new PassThrough({ highWaterMark: 16 * 1024 * 1024 });
  // Without a reader its failure would end the whole process; `done` tells of it too.
  output.on('error', () => undefined);
  pumpUnhurried(git, output);
  const quarantine = quarantineOf(git.child.stdio[3] as unknown as Readable);
  return { output, done: git.ended, quarantine };
}

/** Passes git's report on while somebody reads it, and reads it for nobody's sake afterwards. */
function pumpUnhurried(git: GitProcess, output: PassThrough): void {
  const { stdout } = git.child;
  stdout.pipe(output, { end: false });
  output.once('close', () => {
    stdout.unpipe(output);
    stdout.resume();
  });
  void git.ended.then(async (end) => {
    if (!stdout.closed) await new Promise((resolve) => stdout.once('close', resolve));
    if (end.code !== null) output.end();
    else output.destroy(new GitError({ attempted: 'take a push', stderr: git.stderr(), cause: end.failure }));
  });
}

/** Only the fetch protocol has a second version; a push that names it is answered in the first. */
export function protocolFor(service: GitService, asked: string | undefined): string | undefined {
  return service === 'git-receive-pack' && asked === 'version=2' ? undefined : asked;
}

/** Gives git no more to read, and ends it by force when that does not end it. */
function starve(git: GitProcess): void {
  git.child.stdin.destroy();
  const force = setTimeout(() => git.kill(), starveMs);
  void git.ended.then(() => clearTimeout(force));
}

export function killOnAbort(git: GitProcess, signal: AbortSignal | undefined): void {
  onAbort(git, signal, () => git.kill());
}

/** Gives back a function that ends the interest in the signal; the end of git does so too. */
function onAbort(git: GitProcess, signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  signal?.addEventListener('abort', act, { once: true });
  const release = () => signal?.removeEventListener('abort', act);
  void git.ended.then(release);
  return release;
}

async function* outputOf(
  git: GitProcess,
  attempted: string,
  onProgress?: () => void,
): AsyncGenerator<Buffer, undefined> {
  let isSilent = true;
  for await (const chunk of git.child.stdout) {
    isSilent = false;
    yield chunk;
    onProgress?.();
  }
  const end = await git.ended;
  const failed = end.code === null || (end.code !== 0 && isSilent);
  if (failed) {
    const stderr = git.stderr();
    throw new GitError({ attempted, exitCode: end.code, stderr, cause: end.failure });
  }
}

async function* prepend(start: Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* start;
  yield* rest;
}

/** A stream that ends git when its reader gives up, also while git is silent. */
function toReadable(chunks: AsyncGenerator<Buffer>, git: GitProcess): Readable {
  const readable = Readable.from(chunks, { objectMode: false });
  readable.once('close', () => git.kill());
  return readable;
}
