import type { EntityManager } from '@mikro-orm/postgresql';
import OAuth2Server from '@node-oauth/oauth2-server';
import { type ClientRow, findClient } from '../queries/oauth-applications.ts';
import { newAccessToken, tokenDigest } from '../secrets.ts';
import { findCode, saveCode, useCode } from './codes.ts';
import { findRefreshToken, saveTokens, useRefreshToken } from './tokens.ts';

/** What the provider library asks of its storage. */
type Model = OAuth2Server.AuthorizationCodeModel &
  OAuth2Server.PasswordModel &
  OAuth2Server.RefreshTokenModel &
  OAuth2Server.ClientCredentialsModel;

type GivenCode = Parameters<OAuth2Server.AuthorizationCodeModel['saveAuthorizationCode']>[0];

export interface ModelParts {
  em: EntityManager;
  /** The id of the active user with this password. @throws what the caller is to be told. */
  userByPassword(username: string, password: string): Promise<number>;
  /** The request names no program: a user fetches a token for himself. */
  isWithoutClient: boolean;
  /** Codes are looked at, not kept: nobody has consented yet. */
  isRehearsal: boolean;
}

export const scope = ['api'];

/** Stands for no program. Real ones have longer names. */
export const nobodysClient = 'none';

/**
 * Whether a code or token is still good is said by the database, whose clock counts. The library looks at a moment
 * of this server's clock, too, so it gets one that has not come.
 */
function notYet(): Date {
  return new Date(Date.now() + 3_600_000);
}

const clientWithout: OAuth2Server.Client = {
  id: nobodysClient,
  applicationId: null,
  grants: ['password', 'refresh_token'],
};

/** The storage behind one request to the provider. All rules of OAuth itself are the library's. */
export class OauthModel implements Model {
  readonly #parts: ModelParts;
  readonly #em: EntityManager;
  #client: OAuth2Server.Client = clientWithout;
  /** Of the tokens to be made; null: they are the first of one. */
  #family: string | null = null;

  constructor(parts: ModelParts) {
    this.#parts = parts;
    this.#em = parts.em;
  }

  async getClient(uid: string, secret: string | null | undefined) {
    if (this.#parts.isWithoutClient) return clientWithout;
    const row = await findClient(this.#em, uid);
    // The page of consent asks with null: there the program proves nothing.
    if (!row || (secret !== null && !proves(row, secret))) return false;
    this.#client = clientOf(row);
    return this.#client;
  }

  async generateAccessToken() {
    return newAccessToken();
  }

  async generateRefreshToken() {
    return newAccessToken();
  }

  async generateAuthorizationCode() {
    return newAccessToken();
  }

  async validateScope(_user: OAuth2Server.User, _client: OAuth2Server.Client, asked?: string[]) {
    return (asked ?? scope).every((word) => scope.includes(word)) && scope;
  }

  async saveAuthorizationCode(code: GivenCode, of: OAuth2Server.Client, user: OAuth2Server.User) {
    checkChallenge(code.codeChallenge, of);
    const { authorizationCode, redirectUri, codeChallenge = null } = code;
    const parts = { redirectUri, codeChallenge, applicationId: of.applicationId, userId: user.id };
    if (!this.#parts.isRehearsal) await saveCode(this.#em, { code: authorizationCode, ...parts });
    return { ...code, client: of, user };
  }

  async getAuthorizationCode(code: string) {
    const row = await findCode(this.#em, { code, applicationId: this.#client.applicationId });
    if (!row) return false;
    this.#family = row.family;
    const codeChallenge = row.code_challenge;
    const pkce = codeChallenge ? { codeChallenge, codeChallengeMethod: 'S256' } : {};
    const facts = { authorizationCode: code, expiresAt: notYet(), redirectUri: row.redirect_uri, ...pkce };
    return { ...facts, scope, client: this.#client, user: { id: row.user_id } };
  }

  async revokeAuthorizationCode({ authorizationCode }: OAuth2Server.AuthorizationCode) {
    await useCode(this.#em, authorizationCode);
    return true;
  }

  async getUser(username: string, password: string) {
    return {
      id: await this.#parts.userByPassword(decodeURIComponent(username), decodeURIComponent(password)),
    };
  }

  async getUserFromClient() {
    return { id: null };
  }

  async getRefreshToken(token: string) {
    const row = await findRefreshToken(this.#em, { token, applicationId: this.#client.applicationId });
    if (!row) return false;
    this.#family = row.family;
    return { refreshToken: token, scope, client: this.#client, user: { id: row.user_id } };
  }

  async revokeToken({ refreshToken }: OAuth2Server.RefreshToken) {
    await useRefreshToken(this.#em, refreshToken);
    return true;
  }

  async saveToken(token: OAuth2Server.Token, of: OAuth2Server.Client, user: OAuth2Server.User) {
    const { accessToken: access, refreshToken: refresh = null } = token;
    const parts = { applicationId: of.applicationId, userId: user.id, family: this.#family };
    const createdAt = await saveTokens(this.#em, { access, refresh, ...parts });
    return { ...token, createdAt, client: of, user };
  }

  /** Requests to the interface find their user in statements of their own. */
  async getAccessToken() {
    return false as const;
  }
}

function clientOf(row: ClientRow): OAuth2Server.Client {
  const { id: applicationId, name, confidential, redirect_uris: redirectUris } = row;
  const grants = ['authorization_code', 'refresh_token', 'password'];
  if (confidential) grants.push('client_credentials');
  return { id: row.uid, applicationId, name, confidential, redirectUris, grants };
}

/** A program that has no secret must not show one: whoever registered it thinks it is kept. */
export function proves(row: ClientRow, secret: string | undefined): boolean {
  if (!row.confidential) return secret === undefined || secret === '';
  return secret !== undefined && tokenDigest(secret).equals(row.secret_digest);
}

/** @throws OAuthError where a program without a secret has no other proof, or the proof has a wrong form. */
function checkChallenge(challenge: string | undefined, client: OAuth2Server.Client): void {
  if (challenge === undefined && !client.confidential) {
    throw new OAuth2Server.InvalidRequestError('Missing parameter: code_challenge');
  }
  if (challenge !== undefined && !/^[\w-]{43}$/.test(challenge)) {
    throw new OAuth2Server.InvalidRequestError('Invalid parameter: code_challenge');
  }
}
