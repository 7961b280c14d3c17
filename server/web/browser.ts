import type { Context } from 'koa';
import { forbidden } from '../errors.ts';
import { readBody } from '../http/body.ts';
import { originOf } from '../http/mount.ts';
import { parseQueryString } from '../http/query-string.ts';
import type { OauthParams } from '../oauth/provider.ts';
import { findSession, type WebUser } from '../oauth/web-sessions.ts';
import { formToken, isAccessToken, isFormToken, newAccessToken } from '../secrets.ts';
import type { Work } from '../services.ts';

const sessionCookie = 'hearth_session';
/** Of a browser in which nobody has signed in yet. */
const formCookie = 'hearth_form';

/** The parameters of query and body that are single texts or numbers and not blank, without NUL. */
export async function readTexts(ctx: Context): Promise<OauthParams> {
  const given = { ...parseQueryString(ctx.querystring), ...(await readBody(ctx, 'usual', new Set())) };
  const texts: OauthParams = {};
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const text = String(value).replaceAll('\0', '');
    if (text !== '') texts[name] = text;
  }
  return texts;
}

/** Who has signed in with this browser, and what the forms on his pages carry; null for nobody. */
export async function sessionOf(work: Work, ctx: Context): Promise<(WebUser & { formToken: string }) | null> {
  const token = cookie(ctx, sessionCookie);
  const user = token === null ? null : await findSession(work.em, token);
  if (token === null || !user) return null;
  ctx.state.viewer = user.id;
  return { ...user, formToken: formToken(token) };
}

/** What the form for signing in carries. Begins to recognise the browser where that is new. */
export function strangersFormToken(ctx: Context, work: Work): string {
  const known = cookie(ctx, formCookie);
  const token = known ?? newAccessToken();
  if (!known) setCookie(ctx, work, { name: formCookie, value: token });
  return formToken(token);
}

/** @throws AppError 403 for a form that is not from a page of ours in this browser. */
export function checkForm(ctx: Context, given: string | undefined): void {
  const secrets = [cookie(ctx, sessionCookie), cookie(ctx, formCookie)];
  const isOurs = secrets.some((secret) => secret !== null && isFormToken(given ?? '', secret));
  if (!isOurs) throw forbidden('this page is too old: load it again');
}

/** What the cookie of the session holds, or null. */
export function sessionToken(ctx: Context): string | null {
  return cookie(ctx, sessionCookie);
}

/** @param token null: the browser forgets its session. */
export function keepSession(ctx: Context, work: Work, token: string | null): void {
  setCookie(ctx, work, { name: sessionCookie, value: token });
}

function cookie(ctx: Context, name: string): string | null {
  const value = ctx.cookies.get(name) ?? '';
  return isAccessToken(value) ? value : null;
}

function setCookie(ctx: Context, work: Work, { name, value }: { name: string; value: string | null }): void {
  const secure = originOf(ctx, work).startsWith('https:');
  // Whoever takes the encryption off in front of us need not tell.
  ctx.cookies.secure = secure;
  ctx.cookies.set(name, value, { httpOnly: true, sameSite: 'lax', secure, overwrite: true });
}
