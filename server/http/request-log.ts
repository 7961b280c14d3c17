import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { respondError } from './respond.ts';

/** A caller's own request id is taken when it is short and harmless. */
const usableId = /^[A-Za-z0-9._-]{1,64}$/;

const triggerToken = /(\/triggers\/+)[^/]+/;

/**
 * Gives each request an id, turns what is thrown into an answer, and writes one line when the answer is out.
 * The line has the path without its query, and without what names a trigger in it: those are tokens.
 */
export function requestLog(log: Logger) {
  // Looking for secrets costs more than the rest of the line, whose fields are always these, and none of them one.
  const lines = log.child({}, { redact: [] });
  return async (ctx: Context, next: Next): Promise<void> => {
    const started = process.hrtime.bigint();
    const given = ctx.get('x-request-id');
    const requestId = usableId.test(given) ? given : randomUUID();
    ctx.set('X-Request-Id', requestId);
    const path = ctx.path.replace(triggerToken, '$1[redacted]');
    ctx.res.once('close', () => {
      const ms = Number((process.hrtime.bigint() - started) / 1000n) / 1000;
      const user = ctx.state.viewer as number | undefined;
      lines.info({ request: requestId, method: ctx.method, path, status: ctx.status, ms, user }, 'request');
    });
    try {
      await next();
    } catch (error) {
      respondError(ctx, error, log.child({ request: requestId }));
    }
  };
}
