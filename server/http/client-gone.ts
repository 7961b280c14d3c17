import type { Context } from 'koa';

/**
 * Fires when the client goes away before its answer is complete. Ask before anything is awaited: one that has gone
 * already is not noticed any more.
 */
export function clientGone(ctx: Context): AbortSignal {
  const controller = new AbortController();
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) controller.abort();
  });
  return controller.signal;
}
