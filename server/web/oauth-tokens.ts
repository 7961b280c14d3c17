import Router from '@koa/router';
import type { Context } from 'koa';
import { signIn } from '../actions/sign-in.ts';
import { forgetAttempt, throttleSignIn } from '../actions/throttle.ts';
import { AppError } from '../errors.ts';
import { readAccessToken } from '../http/authenticate.ts';
import { originOf } from '../http/mount.ts';
import { sendJson } from '../http/respond.ts';
import { InvalidResourceOwner, type OauthRefusal } from '../oauth/errors.ts';
import { issueTokens } from '../oauth/provider.ts';
import { revoke } from '../oauth/revoke.ts';
import { tokenInfo } from '../oauth/tokens.ts';
import type { Services, Work } from '../services.ts';
import { readTexts } from './browser.ts';
import { guardPage } from './page.ts';

/** What programs call by themselves: for tokens, for what is known of one, and to end it. */
export function tokenRouter(services: Services): Router {
  const router = new Router();
  const em = services.orm.em.fork();
  const serve = (run: (work: Work, ctx: Context) => Promise<unknown>) => async (ctx: Context) => {
    guardPage(ctx);
    const work = { ...services, em, origin: originOf(ctx, services) };
    const answer = await run(work, ctx).catch(asInvalidRequest);
    if (isRefusal(answer)) refuse(ctx, answer);
    else sendJson(ctx, answer);
  };
  router.post('/oauth/token', serve(token));
  router.post('/oauth/revoke', serve(end));
  router.get('/oauth/token/info', serve(tell));
  return router;
}

async function token(work: Work, ctx: Context): Promise<unknown> {
  const params = await readTexts(ctx);
  const request = { params, authorization: ctx.get('authorization'), userByPassword };
  if (params.grant_type !== 'password') return issueTokens(work, request);
  const attempt = { address: ctx.ip, login: params.username ?? '' };
  await throttleSignIn(work, attempt);
  const answer = await issueTokens(work, request);
  if ('access_token' in answer) await forgetAttempt(work, attempt);
  return answer;
}

async function userByPassword(work: Work, username: string, password: string): Promise<number> {
  try {
    return (await signIn(work, username, password)).id;
  } catch (error) {
    throw error instanceof AppError && error.status === 401 ? new InvalidResourceOwner() : error;
  }
}

async function end(work: Work, ctx: Context): Promise<unknown> {
  const params = await readTexts(ctx);
  return (await revoke(work, { params, authorization: ctx.get('authorization') })) ?? {};
}

async function tell(work: Work, ctx: Context): Promise<unknown> {
  const raw = await readTexts(ctx);
  const given = readAccessToken({ raw, header: (name) => ctx.get(name) });
  const info = given === null ? null : await tokenInfo(work.em, given);
  if (!info) {
    const error_description = 'The access token is missing, unknown, over or revoked';
    return { error: given === null ? 'invalid_request' : 'invalid_token', error_description };
  }
  const { uid, ...rest } = info;
  return { ...rest, scopes: ['api'], application: { uid } };
}

/** What cannot be read is told in the words of OAuth too; other refusals, and faults, are told as everywhere. */
function asInvalidRequest(error: unknown): OauthRefusal {
  if (!(error instanceof AppError) || (error.status !== 400 && error.status !== 413)) throw error;
  return { error: 'invalid_request', error_description: 'The body cannot be read' };
}

function isRefusal(answer: unknown): answer is OauthRefusal {
  return typeof answer === 'object' && answer !== null && 'error' in answer;
}

function refuse(ctx: Context, refusal: OauthRefusal): void {
  const scheme = /^Basic\s/i.test(ctx.get('authorization')) ? 'Basic' : 'Bearer';
  const { error, error_description } = refusal;
  ctx.status = 401;
  sendJson(ctx, refusal);
  const words = `error="${error}", error_description="${error_description}"`;
  ctx.set('WWW-Authenticate', `${scheme} realm="Hearth", ${words}`);
}
