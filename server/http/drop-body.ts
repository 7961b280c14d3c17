import type { Context, Next } from 'koa';

/**
 * Reads what is left of a body once its request is answered, and drops it. A body that was refused half-way would
 * stay in the connection, and the next request behind it would wait for ever.
 */
export function dropBody(ctx: Context, next: Next): Promise<unknown> {
  ctx.res.once('finish', () => {
    if (ctx.req.readableEnded) return;
    ctx.req.unpipe();
    ctx.req.resume();
  });
  return next();
}
