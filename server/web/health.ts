import { access, constants, statfs } from 'node:fs/promises';
import Router from '@koa/router';
import { runGit } from '../git/run-git.ts';
import type { Metrics } from '../http/metrics.ts';
import { sendJson } from '../http/respond.ts';
import type { Services } from '../services.ts';
import { sql } from '../sql.ts';

const leastFreeBytes = 64 * 1024 * 1024;

/** `/healthz`: requests can be served. `/readyz`: so can what they need. `/metrics`: Prometheus text. */
export function healthRouter(services: Services, metrics: Metrics): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  router.get('/healthz', (ctx) => sendJson(ctx, { status: 'ok' }));
  router.get('/readyz', async (ctx) => {
    const checks = {
      database: await passes(() => sql(em, 'select 1')),
      disk: await passes(() => Promise.all(services.writtenDirs.map(checkDisk))),
      git: await passes(() => runGit({ args: ['version'], attempted: 'ask for the version of git' })),
    };
    ctx.status = Object.values(checks).every((state) => state === 'ok') ? 200 : 503;
    sendJson(ctx, checks);
  });
  router.get('/metrics', async (ctx) => {
    ctx.body = await metrics.registry.metrics();
    ctx.set('Content-Type', metrics.registry.contentType);
  });
  return router;
}

async function passes(check: () => Promise<unknown>): Promise<'ok' | 'failed'> {
  try {
    await check();
    return 'ok';
  } catch {
    // The answer says which check failed; why is for the log of whatever is broken.
    return 'failed';
  }
}

async function checkDisk(dir: string): Promise<void> {
  await access(dir, constants.W_OK);
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize < leastFreeBytes) throw new Error(`less than ${leastFreeBytes} bytes are free`);
}
