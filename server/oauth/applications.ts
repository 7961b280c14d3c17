import { invalid } from '../errors.ts';
import { faultOfRedirectUris } from '../policy/redirect-uri.ts';
import { type ApplicationRow, applicationColumns } from '../queries/oauth-applications.ts';
import { newAccessToken, tokenDigest } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export interface NewApplication {
  name: string;
  redirectUris: string[];
  /** Whether it can keep a secret: a server can, a program on a desk or in a browser cannot. */
  confidential: boolean;
  /** Null: of the whole instance. */
  ownerId: number | null;
}

const insert = `insert into oauth_applications as a (name, uid, secret_digest, confidential, redirect_uris, owner_id)
  values ($1, $2, $3, $4, $5, $6) returning ${applicationColumns}`;

/**
 * Registers a program. Its secret is in this answer alone: what is stored only recognises it.
 *
 * @throws AppError 400 for addresses that it cannot be called back at.
 */
export async function createApplication(
  work: Work,
  request: NewApplication,
): Promise<{ application: ApplicationRow; secret: string | null }> {
  const fault = faultOfRedirectUris(request.redirectUris);
  if (fault) throw invalid({ redirect_uri: [fault] });
  const secret = newAccessToken();
  const { name, confidential, redirectUris, ownerId } = request;
  const values = [name, newAccessToken(), tokenDigest(secret), confidential, redirectUris, ownerId];
  const application = (await sqlOne<ApplicationRow>(work.em, insert, values)) as ApplicationRow;
  return { application, secret: confidential ? secret : null };
}

const remove = `delete from oauth_applications a where a.id = $1 and ($2::int is null or a.owner_id = $2)
  returning ${applicationColumns}`;

/**
 * Removes a program with all its tokens: they lead to nobody from then on.
 *
 * @param ownerId whose it must be; null: anybody's.
 * @returns null when there is none.
 */
export async function removeApplication(
  work: Work,
  { id, ownerId }: { id: number; ownerId: number | null },
): Promise<ApplicationRow | null> {
  return sqlOne<ApplicationRow>(work.em, remove, [id, ownerId]);
}
