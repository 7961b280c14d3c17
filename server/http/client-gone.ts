import type { Context } from 'koa';

/** Fires when the client goes away before its answer is complete, or has fired when it is gone already. */
export function clientGone({ res }: Context): AbortSignal {
  const controller = new AbortController();
  const check = () => {
    if (!res.writableFinished) controller.abort();
  };
  if (res.closed) check();
  else res.once('close', check);
  return controller.signal;
}
