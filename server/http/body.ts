import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context, Next } from 'koa';
import koaBody from 'koa-body';
import { badRequest, notText, tooLarge } from '../errors.ts';
import { readFormFields } from './form-fields.ts';
import { type ListNames, parametersOf, parseLooseQueryString, parseQueryString } from './query-string.ts';
import { readReport } from './report-body.ts';

/**
 * Bytes of a body. A JSON body may hold a whole trace whose characters are escaped six-fold, or files that take a
 * third more in base64.
 */
const limits = { usual: 2 * 1024 * 1024, files: 32 * 1024 * 1024, trace: 40 * 1024 * 1024 };

const unreadable = '400 (Bad request) body cannot be parsed';

/** How large a body of parameters may be. */
export type BodySize = keyof typeof limits;

const parsers = {
  usual: parser(limits.usual),
  files: parser(limits.files),
  trace: parser(limits.trace),
};

/**
 * Reads a JSON, urlencoded or multipart body on any method, whatever the `Accept` header says. The two kinds of
 * form are read like a query string. Files in a form are passed over.
 *
 * @param lists names of the parameters that can have several values.
 * @returns the parameters in it; an empty map for an empty or `null` body, or one of an unknown type.
 * @throws AppError 400 when it cannot be parsed, 413 when it is too large.
 */
export async function readBody(
  ctx: Context,
  size: BodySize,
  lists: ListNames,
): Promise<Record<string, unknown>> {
  if (!hasBody(ctx.req)) return {};
  if (ctx.is('multipart/form-data')) {
    return parametersOf(await readFormFields(ctx.req, limits[size]), lists);
  }
  const text = isReport(ctx, size) ? await readReport(ctx.req, limits[size]) : await readText(ctx, size);
  if (ctx.is('urlencoded')) return (size === 'trace' ? parseLooseQueryString : parseQueryString)(text, lists);
  const body = parseJson(text);
  if (body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body))
    throw badRequest('400 (Bad request) body is not an object');
  return body as Record<string, unknown>;
}

/** Whether a request has more of a body than most endpoints would read, or does not say how much. */
export function hasLargeBody(req: IncomingMessage): boolean {
  return hasBody(req) && !(Number(req.headers['content-length']) <= limits.usual);
}

function isReport(ctx: Context, size: BodySize): boolean {
  return size === 'trace' && ctx.is('application/json') !== false && ctx.get('content-encoding') === '';
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text, /__proto__|\\u/i.test(text) ? refusePrototype : undefined);
  } catch {
    // Its words would tell of what stands in there.
    throw badRequest(unreadable);
  }
}

/** Merged with other parameters, it would change what they inherit. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('prototypes are not for clients');
  return value;
}

/** @returns an empty text for a body of an unknown type. */
async function readText(ctx: Context, size: BodySize): Promise<string> {
  try {
    await parsers[size](ctx, noNext);
  } catch (error) {
    throw bodyError(error);
  }
  const { body } = ctx.request as { body?: unknown };
  const bytes = Buffer.from(typeof body === 'string' ? body : '', 'latin1');
  // A trace may hold any bytes, and is better with a few signs changed than refused.
  if (size !== 'trace' && !isUtf8(bytes)) throw notText();
  return bytes.toString();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function parser(limit: number) {
  return koaBody({
    json: false,
    urlencoded: false,
    textTypes: ['urlencoded', 'json'],
    textLimit: limit,
    // A letter for each byte: broken UTF-8 must be told from text, and is not repaired.
    encoding: 'latin1',
    parsedMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as never,
  }) as (ctx: Context, next: Next) => Promise<unknown>;
}

async function noNext(): Promise<void> {}

/** Nothing but the reader of the body runs in there, so whatever it throws is the body's fault. */
function bodyError(error: unknown): unknown {
  if ((error as { status?: unknown }).status === 413) return tooLarge();
  return badRequest(unreadable);
}
