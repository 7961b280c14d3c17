import { readBasic } from '../http/basic-credentials.ts';
import { findClient } from '../queries/oauth-applications.ts';
import type { Work } from '../services.ts';
import type { OauthRefusal } from './errors.ts';
import { proves } from './model.ts';
import type { OauthParams } from './provider.ts';
import { revokeToken } from './tokens.ts';

/**
 * Revokes a token, access or refresh. Whoever holds it may; a program that names itself must prove it, and ends its
 * own tokens only. A token that is unknown is as good as revoked.
 *
 * @returns null when it is done.
 */
export async function revoke(
  work: Work,
  { params, authorization }: { params: OauthParams; authorization: string },
): Promise<OauthRefusal | null> {
  if (params.token === undefined) return refusal('invalid_request', 'Missing parameter: token');
  const basic = readBasic(authorization);
  const uid = basic?.user ?? params.client_id;
  let applicationId: number | null = null;
  if (uid !== undefined) {
    const client = await findClient(work.em, uid);
    if (!client || !proves(client, basic?.password ?? params.client_secret)) {
      return refusal('invalid_client', 'The program is unknown, or its secret is wrong');
    }
    applicationId = client.id;
  }
  await revokeToken(work.em, { token: params.token, applicationId });
  return null;
}

function refusal(error: string, error_description: string): OauthRefusal {
  return { error, error_description };
}
