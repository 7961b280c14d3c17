import type { Context } from 'koa';
import { AppError } from '../errors.ts';
import type { AccessRequest } from './access.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * The first step of an endpoint's access. A project or group may have a path that ends like the suffix that was taken
 * off: it is looked for under its whole path first.
 *
 * @throws AppError as the access does.
 */
export async function loadScope(ctx: Context, { access, path }: Endpoint, request: AccessRequest) {
  const { id } = request.raw;
  const isNamed = (access.kind === 'project' || access.kind === 'group') && path.endsWith('/:id');
  if (ctx.state.suffix && isNamed && /\D/.test(String(id))) {
    const raw = { ...request.raw, id: `${id}${ctx.state.suffix}` };
    const found = await access.load({ ...request, raw }).catch(nothing);
    if (found !== null) return found;
  }
  return access.load(request);
}

function nothing(error: unknown): null {
  if (error instanceof AppError && error.status === 404) return null;
  throw error;
}
