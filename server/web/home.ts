import Router from '@koa/router';
import { nothingHere } from '../errors.ts';
import { originOf } from '../http/mount.ts';
import type { Services } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { sessionOf } from './browser.ts';
import { goOn } from './sign-in.ts';

/**
 * `/`: sends users who are signed in to the page that says so, and others to the one that the administrator names for
 * them, if he does.
 */
export function homeRouter(services: Services): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  router.get('/', async (ctx) => {
    const user = await sessionOf({ ...services, em, origin: originOf(ctx, services) }, ctx);
    if (user) return goOn(ctx, {}, '/users/sign_in');
    const row = await sqlOne<{ home_page_url: string | null }>(
      em,
      'select home_page_url from settings where id = 1',
    );
    if (!row?.home_page_url) throw nothingHere();
    ctx.redirect(row.home_page_url);
  });
  return router;
}
