import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

/** A program that acts for users, as answers show it. */
export interface ApplicationRow {
  id: number;
  name: string;
  uid: string;
  confidential: boolean;
  redirect_uris: string[];
  owner_id: number | null;
  created_at: Date;
}

/** A program as the provider asks for it. */
export interface ClientRow extends ApplicationRow {
  secret_digest: Buffer;
}

export const applicationColumns =
  'a.id, a.name, a.uid, a.confidential, a.redirect_uris, a.owner_id, a.created_at';

/** All programs, or those of one user, newest first. */
export function listApplications(ownerId: number | null): ListQuery {
  const mine = ownerId === null ? '' : 'where a.owner_id = $1';
  return {
    columns: applicationColumns,
    from: `oauth_applications a ${mine}`,
    order: 'a.id desc',
    values: ownerId === null ? [] : [ownerId],
  };
}

const byUid = `select ${applicationColumns}, a.secret_digest from oauth_applications a where a.uid = $1`;

/** The program that calls itself so, or null. */
export async function findClient(em: EntityManager, uid: string): Promise<ClientRow | null> {
  return sqlOne<ClientRow>(em, byUid, [uid]);
}

const trusts = `select 1 from oauth_tokens where application_id = $1 and user_id = $2 and revoked_at is null
  and greatest(expires_at, refresh_expires_at) > now()`;

/** Whether the program acts for the user already. */
export async function actsFor(
  em: EntityManager,
  { applicationId, userId }: { applicationId: number; userId: number },
): Promise<boolean> {
  return (await sqlOne(em, trusts, [applicationId, userId])) !== null;
}
