import OAuth2Server from '@node-oauth/oauth2-server';

/** What a program is told that asked for a token in vain. */
export interface OauthRefusal {
  error: string;
  error_description: string;
}

/** A refusal in the words of OAuth; what else the provider throws is a fault of ours, which it wraps. */
export function readRefusal(error: unknown): OauthRefusal {
  const isRefusal = error instanceof OAuth2Server.OAuthError && error.name !== 'server_error';
  if (!isRefusal) throw (error as { inner?: unknown }).inner ?? error;
  return { error: error.name, error_description: describe(error.message) };
}

function describe(message: string): string {
  return message.replace(/[^\x20-\x7e]|["\\]/g, '').slice(0, 200);
}

export class InvalidResourceOwner extends OAuth2Server.OAuthError {
  constructor() {
    const name = 'invalid_resource_owner';
    super('The user name or the password is wrong, or this user cannot sign in with them', {
      code: 401,
      name,
    });
  }
}
