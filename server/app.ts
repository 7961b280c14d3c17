import Koa, { type Context } from 'koa';
import { apiEndpoints } from './api/index.ts';
import { notAllowed, nothingHere } from './errors.ts';
import { dropBody } from './http/drop-body.ts';
import { Metrics } from './http/metrics.ts';
import { type MountOptions, mount } from './http/mount.ts';
import { normalizePath } from './http/normalize.ts';
import { openApiRouter } from './http/openapi.ts';
import { requestLog } from './http/request-log.ts';
import { runnerEndpoints } from './runner-api/index.ts';
import type { Services } from './services.ts';
import { accountRouter } from './web/account.ts';
import { gitRouter } from './web/git.ts';
import { healthRouter } from './web/health.ts';
import { homeRouter } from './web/home.ts';
import { consentRouter } from './web/oauth.ts';
import { tokenRouter } from './web/oauth-tokens.ts';
import { projectAvatarRouter } from './web/project-avatar.ts';
import { signInRouter } from './web/sign-in.ts';
import { signUpRouter } from './web/sign-up.ts';
import { uploadsRouter } from './web/uploads.ts';

export const apiPrefix = '/api/v3';
export const runnerPrefix = '/ci/api/v1';

const clientGone = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

/** The whole HTTP application; the only place that orders middlewares. */
export function createApp(services: Services, options: MountOptions = { checkAnswers: false }): Koa {
  const app = new Koa();
  const metrics = new Metrics();
  const routers = [
    // Those that are asked most come first.
    mount(apiEndpoints, { prefix: apiPrefix, services, options }),
    mount(runnerEndpoints, { prefix: runnerPrefix, services, options }),
    healthRouter(services, metrics),
    openApiRouter(apiEndpoints, { prefix: apiPrefix, services }),
    homeRouter(services),
    uploadsRouter(services),
    projectAvatarRouter(services),
    tokenRouter(services),
    consentRouter(services),
    signInRouter(services),
    signUpRouter(services),
    accountRouter(services),
    gitRouter(services),
  ];
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A client that goes away in the middle of a stream is no fault of anybody here.
    if (!clientGone.has(error.code ?? '')) services.log.warn({ err: error }, 'answer was cut off');
  });
  app.use(dropBody);
  app.use(metrics.middleware());
  app.use(requestLog(services.log));
  app.use(normalizePath);
  for (const router of routers) app.use(router.routes());
  app.use((ctx) => {
    throw allowedMethods(routers, ctx);
  });
  return app;
}

/** 405 with the methods that the path does have, or 404 when it has none. */
function allowedMethods(
  routers: { match(path: string, method: string): { path: { methods: string[] }[] } }[],
  ctx: Context,
) {
  const methods = routers.flatMap((router) =>
    router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods),
  );
  return methods.length > 0 ? notAllowed([...new Set(methods)].join(', ')) : nothingHere();
}
