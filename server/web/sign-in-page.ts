import type { Context } from 'koa';
import type { OauthParams } from '../oauth/provider.ts';
import type { SignInSettings } from '../queries/sign-in-settings.ts';
import { type Html, html } from './html.ts';
import { showPage } from './page.ts';

/** Parameters of a request for a code: they go with the user from page to page. */
const carried = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
];

/** The carried ones among the parameters. */
export function carriedOf(params: OauthParams): OauthParams {
  return Object.fromEntries(Object.entries(params).filter(([name]) => carried.includes(name)));
}

/** Hidden fields of a form with what is carried and the token of the form. */
export function hiddenFields(params: OauthParams, formToken: string): Html {
  const fields = Object.entries({ ...carriedOf(params), form_token: formToken });
  return html`${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** The page for registering, with what is carried. */
function signUpPath(params: OauthParams): string {
  const query = new URLSearchParams(carriedOf(params)).toString();
  return query === '' ? '/users/sign_up' : `/users/sign_up?${query}`;
}

interface SignInPage {
  params: OauthParams;
  formToken: string;
  settings: SignInSettings;
  /** Said above the form. */
  fault?: string;
  status?: number;
  formTarget?: string | undefined;
}

export function showSignIn(ctx: Context, page: SignInPage): void {
  const { params, formToken, settings, fault, status, formTarget } = page;
  const form = html`<form method="post" action="/users/sign_in">${hiddenFields(params, formToken)}
<label for="login">User name or e-mail</label>
<input id="login" name="login" value="${params.login}" autocomplete="username" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button></form>`;
  const register = html`<p>No account yet? <a href="${signUpPath(params)}">Register</a></p>`;
  const body = html`${fault && html`<p class="fault" role="alert">${fault}</p>`}
${settings.sign_in_text && html`<p>${settings.sign_in_text}</p>`}
${settings.signin_enabled ? form : html`<p>Nobody can sign in with a password here.</p>`}
${settings.signup_enabled ? register : ''}`;
  showPage(ctx, { title: 'Sign in', body, status, formTarget });
}
