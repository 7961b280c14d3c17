import type { Context, Next } from 'koa';

/**
 * Reads what is left of a body once its request is answered, and drops it. A body that was refused half-way would
 * stay in the connection, and the next request behind it would wait for ever.
 */
export async function dropBody(ctx: Context, next: Next): Promise<void> {
  ctx.res.once('finish', () => {
    if (ctx.req.readableEnded) return;
    ctx.req.unpipe();
    ctx.req.resume();
  });
  await next();
  // Closed at once, the connection would be reset under a client that still sends, and the answer with it.
  if (ctx.status >= 400 && !ctx.req.complete) ctx.res.shouldKeepAlive = true;
}
