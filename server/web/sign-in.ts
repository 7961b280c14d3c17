import Router from '@koa/router';
import type { Context } from 'koa';
import { signIn } from '../actions/sign-in.ts';
import { forgetAttempt, throttleSignIn } from '../actions/throttle.ts';
import { AppError } from '../errors.ts';
import { originOf } from '../http/mount.ts';
import { authorize, type OauthParams } from '../oauth/provider.ts';
import { beginSession, endSession } from '../oauth/web-sessions.ts';
import { sourceOf } from '../policy/redirect-uri.ts';
import { signInSettings } from '../queries/sign-in-settings.ts';
import type { Services, Work } from '../services.ts';
import { checkForm, keepSession, readTexts, sessionOf, sessionToken, strangersFormToken } from './browser.ts';
import { html } from './html.ts';
import { guardPage, pageErrors, showPage } from './page.ts';
import { carriedOf, hiddenFields, showSignIn } from './sign-in-page.ts';

/** Signing in and out with a browser: what the pages of OAuth need, and nothing more. */
export function signInRouter(services: Services): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  const serve = (run: (work: Work, ctx: Context) => Promise<void>) => (ctx: Context) =>
    pageErrors(ctx, () => run({ ...services, em, origin: originOf(ctx, services) }, ctx));
  router.get('/users/sign_in', serve(show));
  router.post('/users/sign_in', serve(enter));
  router.post('/users/sign_out', serve(leave));
  return router;
}

async function show(work: Work, ctx: Context): Promise<void> {
  const user = await sessionOf(work, ctx);
  if (!user) return askToSignIn(work, ctx, { params: {} });
  const body = html`<p>You are ${user.name} (${user.username}).</p>
<p><a href="/profile/account">Your account</a></p>
<form method="post" action="/users/sign_out">${hiddenFields({}, user.formToken)}<button>Sign out</button></form>`;
  showPage(ctx, { title: 'Signed in', body });
}

/** Shows the form, with the request for a code that it goes on with, if there is one. */
export async function askToSignIn(
  work: Work,
  ctx: Context,
  said: { params: OauthParams; fault?: string; status?: number },
): Promise<void> {
  const formToken = strangersFormToken(ctx, work);
  const settings = await signInSettings(work.em);
  showSignIn(ctx, { ...said, formToken, settings, formTarget: await targetOf(work, said.params) });
}

/** Where the forms of a request for a code may lead in the end: to its program, if all is well with it. */
export async function targetOf(work: Work, params: OauthParams): Promise<string | undefined> {
  if (params.redirect_uri === undefined) return undefined;
  const found = await authorize(work, { params, userId: null, isApproved: false });
  return found.kind === 'refuse' ? undefined : sourceOf(found.redirectUri);
}

async function enter(work: Work, ctx: Context): Promise<void> {
  const params = await readTexts(ctx);
  checkForm(ctx, params.form_token);
  const { login = '', password = '' } = params;
  await throttleSignIn(work, { address: ctx.ip, login });
  const { signin_enabled } = await signInSettings(work.em);
  const user = signin_enabled ? await signIn(work, login, password).catch(nobody) : null;
  if (!user) {
    const fault = 'The user name or the password is wrong, or you cannot sign in with them.';
    return askToSignIn(work, ctx, { params: { ...carriedOf(params), login }, fault, status: 401 });
  }
  await forgetAttempt(work, { address: ctx.ip, login });
  await enterAs(work, ctx, { userId: user.id, params });
}

/** Begins a session of the browser in place of one that it may have, and goes on to where its user wanted. */
export async function enterAs(
  work: Work,
  ctx: Context,
  { userId, params }: { userId: number; params: OauthParams },
): Promise<void> {
  ctx.state.viewer = userId;
  const before = sessionToken(ctx);
  if (before) await endSession(work.em, before);
  keepSession(ctx, work, await beginSession(work.em, userId));
  goOn(ctx, params, '/users/sign_in');
}

function nobody(error: unknown): null {
  if (error instanceof AppError && error.status === 401) return null;
  throw error;
}

async function leave(work: Work, ctx: Context): Promise<void> {
  const params = await readTexts(ctx);
  checkForm(ctx, params.form_token);
  const token = sessionToken(ctx);
  if (token) await endSession(work.em, token);
  keepSession(ctx, work, null);
  const { after_sign_out_path } = await signInSettings(work.em);
  goOn(ctx, params, after_sign_out_path ?? '/users/sign_in');
}

/** Back to the request for a code, or to `otherwise`; no address of the request is ever gone to. */
export function goOn(ctx: Context, params: OauthParams, otherwise: string): void {
  guardPage(ctx);
  ctx.status = 303;
  ctx.set('Location', signInPath(params, otherwise));
}

/** Where one who has not signed in is asked to: at the request for a code that he comes with, or at `otherwise`. */
export function signInPath(params: OauthParams, otherwise = '/users/sign_in'): string {
  return params.client_id === undefined ? otherwise : authorizePath(params);
}

/** Where a request for a code begins anew. */
export function authorizePath(params: OauthParams): string {
  return `/oauth/authorize?${new URLSearchParams(carriedOf(params))}`;
}
