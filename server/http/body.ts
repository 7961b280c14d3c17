import type { Context, Next } from 'koa';
import koaBody from 'koa-body';
import { badRequest, tooLarge } from '../errors.ts';

/** A JSON body may hold a whole trace whose characters are escaped six-fold. */
const traceLimit = '40mb';
const usualLimit = '2mb';

const parsers = { usual: parser(usualLimit), trace: parser(traceLimit) };

/** How large a body of parameters may be. */
export type BodySize = keyof typeof parsers;

/**
 * Reads a JSON, urlencoded or multipart body on any method, whatever the `Accept` header says.
 *
 * @returns the parameters in it; an empty map for an empty or `null` body.
 * @throws AppError 400 when it cannot be parsed, 413 when it is too large.
 */
export async function readBody(ctx: Context, size: BodySize): Promise<Record<string, unknown>> {
  try {
    await parsers[size](ctx, noNext);
  } catch (error) {
    throw bodyError(error);
  }
  const body: unknown = (ctx.request as { body?: unknown }).body;
  if (body === undefined || body === null || body === '') return {};
  if (typeof body !== 'object' || Array.isArray(body))
    throw badRequest('400 (Bad request) body is not an object');
  return body as Record<string, unknown>;
}

function parser(limit: string) {
  return koaBody({
    jsonLimit: limit,
    formLimit: limit,
    // Clients send the JSON text `null` with parameters in the query.
    jsonStrict: false,
    text: false,
    multipart: true,
    formidable: {
      maxFiles: 1,
      maxFileSize: 1,
      maxFieldsSize: 2 * 1024 * 1024,
      allowEmptyFiles: true,
      minFileSize: 0,
    },
    parsedMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as never,
  }) as (ctx: Context, next: Next) => Promise<unknown>;
}

async function noNext(): Promise<void> {}

function bodyError(error: unknown): unknown {
  const status =
    (error as { status?: unknown; httpCode?: unknown }).status ?? (error as { httpCode?: unknown }).httpCode;
  if (status === 413) return tooLarge();
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return badRequest('400 (Bad request) body cannot be parsed');
  }
  return error;
}
