import { createHash, randomBytes } from 'node:crypto';
import { type Answer, rootToken, type TestApp } from './app.ts';
import { Browser, type BrowserAnswer } from './browser.ts';
import { password } from './make.ts';

export const callback = 'https://client.example.com/callback';

export interface MadeApplication {
  id: number;
  uid: string;
  /** Empty for those that have none. */
  secret: string;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  created_at: number;
}

export interface Refusal {
  error: string;
  error_description: string;
}

export async function makeApplication(
  app: TestApp,
  form: Record<string, string> = {},
): Promise<MadeApplication> {
  const answer = await app.call<{ id: number; application_id: string; secret: string | null }>(
    'POST',
    '/api/v3/applications',
    { as: rootToken, form: { name: 'A program', redirect_uri: callback, ...form } },
  );
  if (answer.status !== 201) throw new Error(`no application: ${JSON.stringify(answer.body)}`);
  return { id: answer.body.id, uid: answer.body.application_id, secret: answer.body.secret ?? '' };
}

/** Where a program sends the browser of its user. */
export function askFor(application: MadeApplication, more: Record<string, string> = {}): string {
  const params = { client_id: application.uid, redirect_uri: callback, response_type: 'code', ...more };
  return `/oauth/authorize?${new URLSearchParams(params)}`;
}

/** A browser in which a user has signed in, on the page that comes then. */
export async function signedInBrowser(
  app: TestApp,
  { username, path }: { username: string; path: string },
): Promise<{ browser: Browser; page: BrowserAnswer }> {
  const browser = new Browser(app.url);
  const answer = await browser.submit(await browser.get(path), { login: username, password });
  if (answer.status !== 303) throw new Error(`could not sign in: ${answer.status} ${answer.text}`);
  return { browser, page: await browser.get(answer.location ?? '') };
}

/** Lets a user sign in and consent. @returns the code that the program gets. */
export async function codeFor(
  app: TestApp,
  application: MadeApplication,
  { username, more = {} }: { username: string; more?: Record<string, string> },
): Promise<string> {
  const { browser, page } = await signedInBrowser(app, { username, path: askFor(application, more) });
  const answer = await browser.submit(page);
  const code = new URL(answer.location ?? '').searchParams.get('code');
  if (code === null) throw new Error(`no code: ${answer.status} ${answer.location}`);
  return code;
}

/** A request of a program, which shows its secret in the body. */
export async function requestTokens<T = Tokens>(
  app: TestApp,
  application: MadeApplication | null,
  form: Record<string, string>,
): Promise<Answer<T>> {
  const shown = application
    ? { client_id: application.uid, ...(application.secret ? { client_secret: application.secret } : {}) }
    : {};
  return app.call<T>('POST', '/oauth/token', { form: { ...shown, ...form } });
}

export async function exchange<T = Tokens>(
  app: TestApp,
  application: MadeApplication,
  code: string,
  more: Record<string, string> = {},
): Promise<Answer<T>> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: callback, ...more };
  return requestTokens<T>(app, application, form);
}

export async function refresh<T = Tokens>(
  app: TestApp,
  application: MadeApplication | null,
  token: string,
): Promise<Answer<T>> {
  return requestTokens<T>(app, application, { grant_type: 'refresh_token', refresh_token: token });
}

/** A verifier and what the program shows of it beforehand. */
export function challenge(): { verifier: string; more: Record<string, string> } {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, more: { code_challenge, code_challenge_method: 'S256' } };
}

/** Status of a request to the interface with this access token. */
export async function statusWith(app: TestApp, token: string): Promise<number> {
  return (await app.call('GET', '/api/v3/user', { headers: { Authorization: `Bearer ${token}` } })).status;
}
