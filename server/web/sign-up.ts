import Router from '@koa/router';
import type { Context } from 'koa';
import { registerUser } from '../actions/create-user.ts';
import { throttleSignUp } from '../actions/throttle.ts';
import type { UserFaults } from '../actions/user-faults.ts';
import { late, settle } from '../http/late-params.ts';
import { originOf } from '../http/mount.ts';
import { optional, readParams, text } from '../http/params.ts';
import type { OauthParams } from '../oauth/provider.ts';
import { signInSettings } from '../queries/sign-in-settings.ts';
import type { Services, Work } from '../services.ts';
import { inTransaction } from '../sql.ts';
import { checkForm, readTexts, sessionOf, strangersFormToken } from './browser.ts';
import { pageErrors } from './page.ts';
import { enterAs, goOn, signInPath, targetOf } from './sign-in.ts';
import { carriedOf } from './sign-in-page.ts';
import { showClosed, showSignUp } from './sign-up-page.ts';

/** The page on which somebody makes a user for himself, while the settings let him. */
export function signUpRouter(services: Services): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  const serve = (run: (work: Work, ctx: Context) => Promise<void>) => (ctx: Context) =>
    pageErrors(ctx, async () => {
      const work = { ...services, em, origin: originOf(ctx, services) };
      const { signup_enabled } = await signInSettings(em);
      if (signup_enabled) await run(work, ctx);
      else showClosed(ctx);
    });
  router.get('/users/sign_up', serve(show));
  router.post('/users/sign_up', serve(register));
  return router;
}

async function show(work: Work, ctx: Context): Promise<void> {
  const params = carriedOf(await readTexts(ctx));
  if (await sessionOf(work, ctx)) return goOn(ctx, params, '/users/sign_in');
  await askToSignUp(work, ctx, { params });
}

async function askToSignUp(
  work: Work,
  ctx: Context,
  said: { params: OauthParams; faults?: UserFaults; status?: number },
): Promise<void> {
  const formToken = strangersFormToken(ctx, work);
  const formTarget = await targetOf(work, said.params);
  showSignUp(ctx, { ...said, formToken, formTarget, signInPath: signInPath(said.params) });
}

const short = optional(late(text({ max: 255 })));
/** Nothing else of the request reaches the new user. */
const accepted = { name: short, username: short, email: short, password: optional(late(text())) };

async function register(work: Work, ctx: Context): Promise<void> {
  const params = await readTexts(ctx);
  checkForm(ctx, params.form_token);
  await throttleSignUp(work, ctx.ip);
  const { values, faults } = settle(readParams(accepted, params));
  const { name = '', username = '', email = '', password = '' } = values;
  const user = { name, username, email, password };
  const made = await inTransaction(work, (inner) => registerUser(inner, { user, faults }));
  if ('faults' in made) return askToSignUp(work, ctx, { params, faults: made.faults, status: 400 });
  await enterAs(work, ctx, { userId: made.id, params });
}
