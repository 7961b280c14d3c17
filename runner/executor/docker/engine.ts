import Docker from 'dockerode';
import { ExecutorError } from '../executor-error.ts';

/** A Docker engine and the address it was reached at, for messages. */
export interface Engine {
  docker: Docker;
  host: string;
}

const goneCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'EACCES',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Opens nothing yet. `host`: socket path, `unix:///path` or `tcp://host:port`. */
export function connectEngine(host: string): Engine {
  // `host: undefined` keeps DOCKER_HOST of the environment from taking precedence over the configuration.
  if (host.startsWith('/')) return { docker: new Docker({ socketPath: host, host: undefined }), host };
  if (host.startsWith('unix://')) {
    return { docker: new Docker({ socketPath: host.slice('unix://'.length), host: undefined }), host };
  }
  const url = new URL(host);
  const port = Number(url.port || 2375);
  return { docker: new Docker({ protocol: 'http', host: url.hostname, port }), host };
}

/** Milliseconds; an engine that takes longer for its simplest answer is of no use to a build. */
const answerLimit = 10_000;

/** @throws ExecutorError when the engine does not answer. */
export async function assertEngine(engine: Engine): Promise<void> {
  const abortSignal = AbortSignal.timeout(answerLimit);
  // A ping says nothing: an engine answers it before it can do anything else.
  await engineCall(engine, 'answer', () => engine.docker.listContainers({ limit: 1, abortSignal }));
}

/** True when containers of this engine run on this very machine. */
export function isLocal(engine: Engine): boolean {
  return engine.host.startsWith('/') || engine.host.startsWith('unix://');
}

/** Runs calls of the engine. `doing` completes "could not …" in the error. */
export async function engineCall<T>(engine: Engine, doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw engineError(engine, doing, error);
  }
}

/** The same fault as an ExecutorError; those of the caller's own making pass unchanged. */
export function engineError(engine: Engine, doing: string, error: unknown): unknown {
  if (isEngineGone(error)) {
    const reason = isTimeout(error) ? 'no answer in time' : (errorCode(error) ?? messageOf(error));
    const advice = reason === 'EACCES' ? '; may this user use the socket?' : '';
    const text = `The Docker engine at ${engine.host} does not answer (${reason})${advice}`;
    return new ExecutorError('system', text, { cause: error });
  }
  const status = statusOf(error);
  if (status === undefined) return error;
  // 400: what the job or the configuration asks for makes no sense to the engine.
  return new ExecutorError(
    status === 400 ? 'user' : 'system',
    `Docker could not ${doing}: ${messageOf(error)}`,
    { cause: error },
  );
}

/** True for faults of the connection, as opposed to an answer of the engine. */
export function isEngineGone(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined && goneCodes.has(code)) return true;
  if (isTimeout(error)) return true;
  return statusOf(error) === undefined && /socket hang up/.test(messageOf(error));
}

/** Whether one of our own limits broke the call off. */
function isTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.name === 'AbortError' ? error.cause : error;
  return cause instanceof Error && cause.name === 'TimeoutError';
}

/** HTTP status of a refusal by the engine; undefined for other errors. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** What the engine said, without the wrapping of its client. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const json = 'json' in error ? error.json : undefined;
  if (typeof json === 'object' && json !== null && 'message' in json) return String(json.message).trim();
  return error.message.replace(/^\(HTTP code \d+\) [^-]* - /, '').trim();
}

function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
