import type { Context } from 'koa';
import { authenticate } from '../http/authenticate.ts';
import { parseQueryString } from '../http/query-string.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

/** Whose token came with a request, in a header or the query; null without one. The log of requests names him. */
export async function viewerOf({ em }: Work, ctx: Context): Promise<Viewer | null> {
  const raw = parseQueryString(ctx.querystring);
  const viewer = await authenticate(em, { raw, header: (header) => ctx.get(header) });
  ctx.state.viewer = viewer?.id;
  return viewer;
}
