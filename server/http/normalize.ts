import type { Context, Next } from 'koa';

/**
 * `/api/v3//projects/1/.json` → `/api/v3/projects/1`: doubled and trailing slashes and `.json` mean nothing. What was
 * taken off a name is kept in `ctx.state.suffix`: it may be a part of that name.
 */
export async function normalizePath(ctx: Context, next: Next): Promise<void> {
  if (/^\/+(?:api|ci)\//.test(ctx.path)) {
    if (/[^/]\.json\/*$/.test(ctx.path)) ctx.state.suffix = '.json';
    ctx.path = normalized(ctx.path, ctx.method);
  }
  await next();
}

/** Paths that end in the name of a branch or tag, unless something is done to it: `.json` may be a part of the name. */
const endsInName = /\/repository\/(?:branches|tags)\/./;

export function normalized(path: string, method: string): string {
  const single = path.replace(/\/{2,}/g, '/');
  if (single.endsWith('/openapi.json')) return single;
  if (method !== 'PUT' && method !== 'POST' && endsInName.test(single)) return single.replace(/\/$/, '');
  return (
    single
      .replace(/\/$/, '')
      .replace(/\.json$/, '')
      .replace(/\/$/, '') || '/'
  );
}
