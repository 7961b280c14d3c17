import OAuth2Server from '@node-oauth/oauth2-server';
import { withParameters } from '../policy/redirect-uri.ts';
import type { Work } from '../services.ts';
import { inTransaction } from '../sql.ts';
import { codeLifetime } from './codes.ts';
import { type OauthRefusal, readRefusal } from './errors.ts';
import { type ModelParts, nobodysClient, OauthModel, scope } from './model.ts';
import { accessLifetime, refreshLifetime } from './tokens.ts';

/** Parameters of a request, each once and not empty. */
export type OauthParams = Record<string, string>;

const options = {
  accessTokenLifetime: accessLifetime,
  refreshTokenLifetime: refreshLifetime,
  authorizationCodeLifetime: codeLifetime,
  alwaysIssueNewRefreshToken: true,
  // Programs without a secret: whether one has to show it is looked at where it is found.
  requireClientAuthentication: { authorization_code: false, password: false, refresh_token: false },
  allowEmptyState: true,
};

export interface TokenRequest {
  params: OauthParams;
  /** The header, with which a program may show its secret. */
  authorization: string;
  userByPassword(work: Work, username: string, password: string): Promise<number>;
}

export interface TokenAnswer {
  access_token: string;
  token_type: 'bearer';
  expires_in: number;
  refresh_token?: string;
  scope: string;
  created_at: number;
}

/**
 * Exchanges a code, a password, a refresh token or the secret of a program for tokens. What a refused request used up
 * or revoked stays so: the transaction ends well.
 */
export async function issueTokens(work: Work, request: TokenRequest): Promise<TokenAnswer | OauthRefusal> {
  const { authorization } = request;
  const grant = request.params.grant_type;
  // Before the program is looked for: the library would tell first that there is none.
  if (grant === undefined) return withoutGrant;
  if (!grantTypes.includes(grant)) return unknownGrant;
  const isWithoutClient =
    /^(?:password|refresh_token)$/.test(grant) &&
    request.params.client_id === undefined &&
    authorization === '';
  const params = { ...request.params, ...(isWithoutClient ? { client_id: nobodysClient } : {}) };
  return inTransaction(work, async (inner) => {
    const server = providerOf({
      em: inner.em,
      userByPassword: (username, password) => request.userByPassword(inner, username, password),
      isWithoutClient,
      isRehearsal: false,
    });
    try {
      return present(
        await server.token(requestOf(escaped(params), authorization), new OAuth2Server.Response(), options),
      );
    } catch (error) {
      return readRefusal(error);
    }
  });
}

export interface AuthorizationRequest {
  params: OauthParams;
  /** Null: nobody has signed in yet. */
  userId: number | null;
  /** Whether he agreed; else it is only said what would come of it. */
  isApproved: boolean;
}

export type Authorization =
  /** Nothing is wrong with the request: the user may be asked, or was. */
  | {
      kind: 'fine';
      application: { id: number; name: string; confidential: boolean };
      redirectUri: string;
      to: string;
    }
  /** The program is told what is wrong, at the address it named. */
  | { kind: 'redirect'; redirectUri: string; to: string }
  /** The user is told: it is not sure that the address is the program's. */
  | { kind: 'refuse'; refusal: OauthRefusal };

/** What becomes of a request for a code. */
export async function authorize(work: Work, request: AuthorizationRequest): Promise<Authorization> {
  const { params, userId, isApproved } = request;
  const redirectUri = params.redirect_uri;
  if (redirectUri === undefined) return { kind: 'refuse', refusal: withoutAddress };
  if ((params.state ?? '').length > longestState) return { kind: 'refuse', refusal: withoutMeasure };
  const state: OauthParams = params.state === undefined ? {} : { state: params.state };
  const response = new OAuth2Server.Response();
  const parts = { em: work.em, userByPassword: neverByPassword, isWithoutClient: false };
  try {
    const code = await providerOf({ ...parts, isRehearsal: !isApproved }).authorize(
      requestOf(params, ''),
      response,
      { ...options, authenticateHandler: { handle: async () => ({ id: userId ?? 0 }) } },
    );
    const { applicationId: id, name, confidential } = code.client;
    const to = withParameters(redirectUri, { code: code.authorizationCode, ...state });
    return { kind: 'fine', application: { id, name, confidential }, redirectUri, to };
  } catch (error) {
    const refusal = readRefusal(error);
    // It has set the way back once program and address are known to belong together.
    if (response.get('location') === undefined) return { kind: 'refuse', refusal };
    return { kind: 'redirect', redirectUri, to: withParameters(redirectUri, { ...refusal, ...state }) };
  }
}

/** The way back for a request that was fine, when the user says no. */
export function denied(redirectUri: string, state: string | undefined): string {
  const refusal = { error: 'access_denied', error_description: 'The user denied the request' };
  return withParameters(redirectUri, { ...refusal, ...(state === undefined ? {} : { state }) });
}

/** Characters. It has to fit into an address that servers take. */
const longestState = 4096;

const withoutMeasure = {
  error: 'invalid_request',
  error_description: 'Invalid parameter: state is too long',
};

const grantTypes = ['authorization_code', 'client_credentials', 'password', 'refresh_token'];

const withoutGrant = {
  error: 'invalid_request',
  error_description: 'Missing parameter: grant_type',
};

const unknownGrant = {
  error: 'unsupported_grant_type',
  error_description: 'Unsupported grant type: grant_type is invalid',
};

const withoutAddress = {
  error: 'invalid_request',
  error_description: 'Missing parameter: redirect_uri',
};

async function neverByPassword(): Promise<number> {
  throw new Error('no password is asked for a code');
}

function providerOf(parts: ModelParts): OAuth2Server {
  return new OAuth2Server({ model: new OauthModel(parts) });
}

/** The library reads forms only; ours have been read, whatever they came as. */
function requestOf(body: OauthParams, authorization: string): OAuth2Server.Request {
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'transfer-encoding': 'chunked' };
  const headers: Record<string, string> = authorization === '' ? form : { ...form, authorization };
  return new OAuth2Server.Request({ method: 'POST', headers, query: {}, body });
}

/** The library refuses names and passwords that mix some characters; they go through it escaped. */
function escaped(params: OauthParams): OauthParams {
  const { username, password } = params;
  return {
    ...params,
    ...(username === undefined ? {} : { username: encodeURIComponent(username.toWellFormed()) }),
    ...(password === undefined ? {} : { password: encodeURIComponent(password.toWellFormed()) }),
  };
}

function present(token: OAuth2Server.Token): TokenAnswer {
  return {
    access_token: token.accessToken,
    token_type: 'bearer',
    expires_in: accessLifetime,
    ...(token.refreshToken === undefined ? {} : { refresh_token: token.refreshToken }),
    scope: scope.join(' '),
    created_at: Number(token.createdAt),
  };
}
