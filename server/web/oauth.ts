import Router from '@koa/router';
import type { Context } from 'koa';
import { originOf } from '../http/mount.ts';
import { type Authorization, authorize, denied, type OauthParams } from '../oauth/provider.ts';
import { sourceOf } from '../policy/redirect-uri.ts';
import { actsFor } from '../queries/oauth-applications.ts';
import type { Services, Work } from '../services.ts';
import { checkForm, readTexts, sessionOf } from './browser.ts';
import { html } from './html.ts';
import { guardPage, pageErrors, showPage } from './page.ts';
import { askToSignIn, authorizePath } from './sign-in.ts';
import { hiddenFields } from './sign-in-page.ts';

type Fine = Extract<Authorization, { kind: 'fine' }>;
type Session = NonNullable<Awaited<ReturnType<typeof sessionOf>>>;

/** The page on which a user lets a program act for him. */
export function consentRouter(services: Services): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  const serve = (run: (work: Work, ctx: Context) => Promise<void>) => (ctx: Context) =>
    pageErrors(ctx, () => run({ ...services, em, origin: originOf(ctx, services) }, ctx));
  router.get('/oauth/authorize', serve(ask));
  router.post(
    '/oauth/authorize',
    serve((work, ctx) => answer(work, ctx, 'approve')),
  );
  router.delete(
    '/oauth/authorize',
    serve((work, ctx) => answer(work, ctx, 'deny')),
  );
  return router;
}

async function ask(work: Work, ctx: Context): Promise<void> {
  const params = await readTexts(ctx);
  const session = await sessionOf(work, ctx);
  const userId = session?.id ?? null;
  const found = await authorize(work, { params, userId, isApproved: false });
  if (found.kind !== 'fine') return conclude(ctx, found);
  if (!session) return askToSignIn(work, ctx, { params });
  const { confidential, id: applicationId } = found.application;
  // A program without a secret may be another one under its name: of those the user is asked each time.
  if (confidential && (await actsFor(work.em, { applicationId, userId: session.id }))) {
    return conclude(ctx, await authorize(work, { params, userId, isApproved: true }));
  }
  askForConsent(ctx, { found, session, params });
}

function askForConsent(ctx: Context, page: { found: Fine; session: Session; params: OauthParams }): void {
  const { found, session, params } = page;
  const fields = hiddenFields(params, session.formToken);
  const body = html`<p><strong>${found.application.name}</strong> asks to act for you,
${session.name} (${session.username}), with all your rights on this server.</p>
<p>You will go on at <code>${found.redirectUri}</code>.</p>
<form method="post" action="/oauth/authorize">${fields}
<button name="decision" value="approve">Allow</button><button name="decision" value="deny">Deny</button></form>
<form method="post" action="/users/sign_out">${fields}<p><button>Use another account</button></p></form>`;
  showPage(ctx, { title: 'Allow access?', body, formTarget: sourceOf(found.redirectUri) });
}

async function answer(work: Work, ctx: Context, decision: 'approve' | 'deny'): Promise<void> {
  const params = await readTexts(ctx);
  const session = await sessionOf(work, ctx);
  if (!session) return go(ctx, authorizePath(params));
  checkForm(ctx, params.form_token);
  const isApproved = decision === 'approve' && params.decision !== 'deny';
  const found = await authorize(work, { params, userId: session.id, isApproved });
  if (found.kind === 'fine' && !isApproved) return go(ctx, denied(found.redirectUri, params.state));
  conclude(ctx, found);
}

function conclude(ctx: Context, found: Authorization): void {
  if (found.kind !== 'refuse') {
    go(ctx, found.to);
    return;
  }
  const { error, error_description } = found.refusal;
  const body = html`<p>The program that sent you here asked for something that cannot be granted:
${error_description} (${error}).</p>`;
  showPage(ctx, { title: 'This did not work', body, status: 400 });
}

function go(ctx: Context, to: string): void {
  guardPage(ctx);
  ctx.status = 303;
  ctx.set('Location', to);
}
