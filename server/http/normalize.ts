import type { Context, Next } from 'koa';

/**
 * `/api/v3//projects/1/.json` → `/api/v3/projects/1`: doubled and trailing slashes and `.json` mean nothing. What was
 * taken off a name is kept in `ctx.state.suffix`: it may be a part of that name.
 */
export async function normalizePath(ctx: Context, next: Next): Promise<void> {
  if (/^\/+(?:api|ci)\//.test(ctx.path)) {
    if (/[^/]\.json\/*$/.test(ctx.path)) ctx.state.suffix = '.json';
    ctx.path = normalized(ctx.path);
  }
  await next();
}

function normalized(path: string): string {
  const single = path.replace(/\/{2,}/g, '/');
  if (single.endsWith('/openapi.json')) return single;
  return (
    single
      .replace(/\/$/, '')
      .replace(/\.json$/, '')
      .replace(/\/$/, '') || '/'
  );
}

/**
 * The parameters in the path. Where it ends in a name that may have slashes, which is that of a branch or tag, the
 * suffix is given back to the name: the handler knows what there is, and whether to do without.
 *
 * @param declared the path as the endpoint declares it.
 */
export function pathParams({ params, state }: Context, declared: string): Record<string, string> {
  const last = /\/\*(\w+)$/.exec(declared)?.[1];
  if (last === undefined || !state.suffix) return params;
  return { ...params, [last]: `${params[last]}${state.suffix}` };
}
