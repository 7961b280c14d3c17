import type { Response } from 'got';
import { BuildPayload } from '../shared/protocol/build.ts';
import { parseRangeLength } from '../shared/protocol/content-range.ts';
import type { TraceAnswer } from './job/build-api.ts';
import { RequestFault } from './retry.ts';

export type ClaimAnswer =
  | { kind: 'build'; build: BuildPayload }
  /** A build was handed out that this runner cannot read; `id` when at least that is there. */
  | { kind: 'unreadable'; id: number | null; reason: string }
  | { kind: 'none' }
  | { kind: 'forbidden' }
  | { kind: 'unavailable'; reason: string };

export function readClaim(response: Response<string>): ClaimAnswer {
  switch (response.statusCode) {
    case 201:
      return readBuild(response.body);
    case 204:
    case 404:
    case 409:
      return { kind: 'none' };
    case 401:
    case 403:
      return { kind: 'forbidden' };
    default:
      return { kind: 'unavailable', reason: faultOf(response).message };
  }
}

function readBuild(body: string): ClaimAnswer {
  const value = parseJson(body);
  const parsed = BuildPayload.safeParse(value);
  if (parsed.success) return { kind: 'build', build: parsed.data };
  const { id } = (value ?? {}) as { id?: unknown };
  const reason = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  return { kind: 'unreadable', id: typeof id === 'number' ? id : null, reason };
}

export function readTraceAnswer(response: Response<string>): TraceAnswer {
  const header = (name: string) => response.headers[name]?.toString() ?? null;
  switch (response.statusCode) {
    case 202:
      return { kind: 'stored', status: header('build-status') };
    case 416:
      return { kind: 'out_of_order', length: parseRangeLength(header('range') ?? '') };
    case 403:
      return { kind: 'gone' };
    case 404:
      return { kind: 'no_parts' };
    default:
      return { kind: 'unavailable', reason: faultOf(response).message };
  }
}

export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Whoever needs a value finds that it is none.
    return null;
  }
}

export function faultOf(response: Response<string>): RequestFault {
  const { message } = (parseJson(response.body) ?? {}) as { message?: unknown };
  return answered(response, typeof message === 'string' ? message : undefined);
}

export function faultOfError(error: unknown): RequestFault {
  if (error instanceof RequestFault) return error;
  const { response } = error as { response?: Response };
  return response
    ? answered(response)
    : new RequestFault(reasonOf(error), { status: null, code: codeOf(error) });
}

const connecting = new Set(['lookup', 'connect', 'secureConnect']);

/** Code of a connection that failed; one that never came about is told from one that fell silent. */
export function codeOf(error: unknown): string | undefined {
  const { code, event } = error as { code?: string; event?: string };
  return event !== undefined && connecting.has(event) ? 'EHOSTUNREACH' : code;
}

/** Messages of this API begin with the status themselves. */
function answered({ statusCode, statusMessage }: Response, message = statusMessage ?? ''): RequestFault {
  const text = message.startsWith(`${statusCode}`) ? message : `${statusCode} ${message}`.trim();
  return new RequestFault(`the server answered ${text}`, { status: statusCode });
}

export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
