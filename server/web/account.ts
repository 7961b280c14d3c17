import Router from '@koa/router';
import type { Context } from 'koa';
import { resetPrivateToken } from '../actions/reset-private-token.ts';
import { originOf } from '../http/mount.ts';
import { privateTokenOf } from '../queries/private-token.ts';
import type { Services, Work } from '../services.ts';
import { checkForm, readTexts, sessionOf } from './browser.ts';
import { html } from './html.ts';
import { pageErrors, showPage } from './page.ts';
import { askToSignIn, goOn } from './sign-in.ts';
import { hiddenFields } from './sign-in-page.ts';

const accountPath = '/profile/account';
const resetPath = '/profile/reset_private_token';

/** The page on which a user sees his private token and gets another one. No token shows it: he has to sign in. */
export function accountRouter(services: Services): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  const serve = (run: (work: Work, ctx: Context) => Promise<void>) => (ctx: Context) =>
    pageErrors(ctx, () => run({ ...services, em, origin: originOf(ctx, services) }, ctx));
  router.get(accountPath, serve(show));
  // Forms of browsers know no PUT.
  router.put(resetPath, serve(reset));
  router.post(resetPath, serve(reset));
  return router;
}

async function show(work: Work, ctx: Context): Promise<void> {
  const user = await sessionOf(work, ctx);
  if (!user) return askToSignIn(work, ctx, { params: {} });
  const token = await privateTokenOf(work.em, work.secrets, user.id);
  const body = html`<p>${user.name} (${user.username})</p>
<h2>Private token</h2>
<p><code>${token}</code></p>
<p>Whoever has it can do here what you can. Get another one if somebody else may know it: this one ends at once,
in all programs that use it.</p>
<form method="post" action="${resetPath}">${hiddenFields({}, user.formToken)}
<button>Replace the private token</button></form>`;
  showPage(ctx, { title: 'Account', body });
}

async function reset(work: Work, ctx: Context): Promise<void> {
  const params = await readTexts(ctx);
  const user = await sessionOf(work, ctx);
  if (!user) return goOn(ctx, {}, '/users/sign_in');
  checkForm(ctx, params.form_token);
  await resetPrivateToken(work, user.id);
  goOn(ctx, {}, accountPath);
}
