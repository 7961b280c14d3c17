import type { Context } from 'koa';
import type { UserFaults } from '../actions/user-faults.ts';
import type { OauthParams } from '../oauth/provider.ts';
import { passwordLength } from '../policy/user-names.ts';
import { type Html, html } from './html.ts';
import { showPage } from './page.ts';
import { hiddenFields } from './sign-in-page.ts';

/** What one who registers says of himself. */
export const signUpFields = ['name', 'username', 'email', 'password'] as const;

type Field = (typeof signUpFields)[number];

const { min, max } = passwordLength;
const inputs: Record<Field, { label: string; attributes: Html }> = {
  name: { label: 'Name', attributes: html`maxlength="255" autocomplete="name" autofocus` },
  username: { label: 'User name', attributes: html`maxlength="255" autocomplete="username"` },
  email: { label: 'E-mail', attributes: html`type="email" maxlength="255" autocomplete="email"` },
  password: {
    label: `Password (at least ${min} characters)`,
    attributes: html`type="password" minlength="${min}" maxlength="${max}" autocomplete="new-password"`,
  },
};

interface SignUpPage {
  /** What is carried, and what was filled in before. */
  params: OauthParams;
  formToken: string;
  /** Where those go who have an account. */
  signInPath: string;
  faults?: UserFaults;
  status?: number;
  formTarget?: string | undefined;
}

export function showSignUp(ctx: Context, page: SignUpPage): void {
  const { params, formToken, signInPath, faults = {}, status, formTarget } = page;
  const body = html`<form method="post" action="/users/sign_up">${hiddenFields(params, formToken)}
${signUpFields.map((field) => showField(field, { value: params[field], faults: textsOf(faults[field]) }))}
<button>Register</button></form>
<p>You have an account? <a href="${signInPath}">Sign in</a></p>`;
  showPage(ctx, { title: 'Register', body, status, formTarget });
}

export function showClosed(ctx: Context): void {
  const body = html`<p>Nobody can register here. Ask the administrator for an account.</p>`;
  showPage(ctx, { title: 'Registration is closed', body, status: 404 });
}

/** A password is never sent back. */
function showField(field: Field, { value, faults }: { value: string | undefined; faults: string[] }): Html {
  const { label, attributes } = inputs[field];
  const shown = field === 'password' ? '' : value;
  const input = html`id="${field}" name="${field}" value="${shown}" ${attributes} required`;
  if (faults.length === 0) return html`<label for="${field}">${label}</label><input ${input}>`;
  return html`<label for="${field}">${label}</label>
<p class="fault" id="${field}-fault" role="alert">${faults.join(', ')}</p>
<input ${input} aria-invalid="true" aria-describedby="${field}-fault">`;
}

function textsOf(faults: UserFaults[string] | undefined): string[] {
  return Array.isArray(faults) ? faults : [];
}
