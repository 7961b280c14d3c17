import { Readable } from 'node:stream';
import { translateDatabaseError } from '../database-errors.ts';
import { AppError } from '../errors.ts';
import { converse } from '../git/conversation.ts';
import { GitError, GitProtocolError } from '../git/errors.ts';
import { advertiseRefs } from '../git/smart-http.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import type { GitAccess } from '../transport/git-access.ts';
import { takePush } from '../transport/take-push.ts';
import { accessOf, type Caller } from './caller.ts';
import type { ChannelOutput } from './channel-output.ts';
import { readCommand, rightFor, type SshService } from './command.ts';

export interface CommandParts {
  /** Fingerprint with which the client came in, and who that is now. */
  caller: Caller;
  /** Null for a shell. */
  command: string | null;
  /** The client shows what it gets on a terminal that breaks no lines by itself. */
  isRaw: boolean;
  /** Version of git's protocol that the client asks for. */
  protocol: string | undefined;
  input: Readable;
  output: ChannelOutput;
  /** Aborts when the client goes away, or does nothing for too long. */
  signal: AbortSignal;
}

/** What was done, for the log. */
export interface CommandEnd {
  code: number;
  service: string;
  project?: number;
}

/** Exit codes. */
const failed = 1;

/**
 * Carries out what a client asks for, and says on its stderr what it cannot have. Never throws.
 *
 * @returns the exit code, that of git where git ran to its end.
 */
export async function runCommand(work: Work, parts: CommandParts): Promise<CommandEnd> {
  const { caller, command, output } = parts;
  if (command === null) return greet(parts);
  const wanted = readCommand(command);
  if (!wanted) {
    await output.complain('hearth: only git fetches, pushes and archives are served here.');
    return { code: failed, service: 'unknown' };
  }
  const { service, path } = wanted;
  const end: CommandEnd = { code: failed, service };
  try {
    const access = await accessOf(work, caller, { path, right: rightFor[service] });
    end.project = access.project.id;
    end.code = await serve(work, access, { ...parts, service });
  } catch (error) {
    if (!parts.signal.aborted) await output.complain(`hearth: ${textFor(work, error)}`);
  }
  return end;
}

/** What `ssh -T` is for: to see whether the key works, and whose it is. */
async function greet({ caller: { viewer }, output, isRaw }: CommandParts): Promise<CommandEnd> {
  const text = viewer
    ? `Welcome to Hearth, @${viewer.username}! There is no shell here, but git can fetch and push.`
    : 'Welcome to Hearth! There is no shell here, but git can fetch with this deploy key.';
  await output.sendAll(Readable.from([Buffer.from(text + (isRaw ? '\r\n' : '\n'))]));
  return { code: 0, service: 'shell' };
}

function serve(
  work: Work,
  access: GitAccess,
  parts: CommandParts & { service: SshService },
): Promise<number> {
  return parts.service === 'git-receive-pack' ? receive(work, access, parts) : read(work, access, parts);
}

async function read(
  work: Work,
  { project }: GitAccess,
  { service, input, output, protocol, signal }: CommandParts & { service: SshService },
): Promise<number> {
  const command = service === 'git-upload-archive' ? 'upload-archive' : 'upload-pack';
  const dir = repositoryOf(work, project);
  const talk = converse({ dir, command, input, protocol, signal });
  await output.sendAll(talk.output);
  const { code, failure } = await talk.ended;
  if (failure) throw failure;
  // It begins with the refs, or with what it can do, before it hears of any wish: only what it read is at fault.
  const isUnreadable = code !== 0 && command === 'upload-pack' && !talk.hasSpoken();
  if (isUnreadable && !signal.aborted) {
    throw new GitError({ attempted: `read the refs of ${dir}`, exitCode: code, stderr: talk.complaint() });
  }
  if (code !== 0 && !signal.aborted) await output.complain(talk.complaint());
  return code ?? failed;
}

/**
 * Git is started twice: what it is told to change is recorded before the second one starts, so that the log of each ref
 * names the push.
 */
async function receive(
  work: Work,
  access: GitAccess,
  { input, output, protocol, signal }: CommandParts,
): Promise<number> {
  const dir = repositoryOf(work, access.project);
  const service = 'git-receive-pack';
  const { body } = await advertiseRefs({ dir, service, protocol, signal, unannounced: true });
  await output.sendAll(body);
  const { answer, ended } = await takePush(work, { access, body: input, protocol, signal });
  await output.sendAll(answer);
  return (await ended).code ?? failed;
}

function textFor(work: Work, thrown: unknown): string {
  if (thrown instanceof GitProtocolError) return thrown.message;
  if (thrown instanceof GitError) {
    work.log.error({ err: thrown }, 'a repository cannot be read');
    return 'The repository of this project cannot be read.';
  }
  const error = thrown instanceof AppError ? thrown : translateDatabaseError(thrown);
  if (error?.status === 404) return 'The project could not be found, or you may not see it.';
  if (error && error.status < 500) return error.message;
  if (error) work.log.warn({ err: error }, 'a command could not be served');
  else work.log.error({ err: thrown }, 'a command failed');
  return error
    ? 'The server cannot do this for the moment. Try again later.'
    : 'Something went wrong on the server.';
}
