import type { Context } from 'koa';
import type { Logger } from 'pino';
import { translateDatabaseError } from '../database-errors.ts';
import { AppError, unreadableRepository } from '../errors.ts';
import { GitError } from '../git/errors.ts';
import { Answer, PageAnswer, StreamAnswer } from './answers.ts';
import type { Endpoint } from './endpoint.ts';
import { type PageRequest, pageHeaders } from './paginate.ts';

export interface ResponseParts {
  endpoint: Endpoint;
  result: unknown;
  page: PageRequest;
  origin: string;
  query: Record<string, unknown>;
  createStatus: 'documented' | '201';
}

/** Writes what a handler gave back. */
export function respond(ctx: Context, parts: ResponseParts): void {
  const { endpoint, result } = parts;
  ctx.status = successStatus(endpoint, parts.createStatus);
  if (result instanceof PageAnswer) {
    const url = parts.origin + ctx.path;
    ctx.set(pageHeaders({ request: parts.page, total: result.total, url, query: parts.query }));
    sendJsonText(ctx, result.json);
    return;
  }
  if (!(result instanceof Answer)) {
    sendJson(ctx, result);
    return;
  }
  if (result.status !== null) ctx.status = result.status;
  if (result instanceof StreamAnswer) ctx.body = result.stream;
  else if (result.status !== 304) sendJson(ctx, result.body);
  ctx.set(result.headers);
}

/**
 * Writes an error as the interface's error body, or as text where a program shows it to its user. What nobody foresaw
 * is a 500, told to the log alone.
 */
export function respondError(ctx: Context, thrown: unknown, log: Logger): void {
  const error = thrown instanceof AppError ? thrown : translateDatabaseError(thrown);
  // Work that is given up because nobody waits for it any more fails too.
  if (!error && ctx.res.closed) log.info({ err: thrown }, 'request given up: the client went away');
  else if (!error) log.error({ err: thrown }, 'request failed');
  else if (error.status >= 500) log.warn({ err: error }, 'request could not be served');
  const told = error ?? (thrown instanceof GitError ? unreadableRepository(thrown) : null);
  ctx.status = told?.status ?? 500;
  ctx.set(told?.headers ?? {});
  const message = told?.body ?? '500 Internal Server Error';
  if (ctx.state.errorsArePlain === true) sendText(ctx, `${message}\n`);
  else sendJson(ctx, { message });
}

/** The content type has no parameters: old runners compare it literally. */
export function sendJson(ctx: Context, value: unknown): void {
  sendJsonText(ctx, JSON.stringify(value ?? null));
}

function sendJsonText(ctx: Context, text: string): void {
  // Set first, or a type is guessed from the text.
  ctx.set('Content-Type', 'application/json');
  ctx.body = text;
}

function sendText(ctx: Context, text: string): void {
  ctx.body = text;
  ctx.set('Content-Type', 'text/plain');
}

function successStatus(endpoint: Endpoint, createStatus: 'documented' | '201'): number {
  const usual = endpoint.method === 'POST' ? 201 : 200;
  if (endpoint.creates && createStatus === '201') return 201;
  return endpoint.status ?? usual;
}
