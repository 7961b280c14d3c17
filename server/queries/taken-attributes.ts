import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';

export interface TakenAttributes {
  /** Primary address of somebody else. */
  email: boolean;
  /** Further address of somebody else. */
  secondary_email: boolean;
  /** Name of another user. */
  username: boolean;
  /** Path of a group. */
  group_path: boolean;
  /** Somebody else is this at the provider. */
  identity: boolean;
}

export interface WantedAttributes {
  /** Who wants them; null for a new user. */
  userId: number | null;
  email: string | null;
  username: string | null;
  provider: string | null;
  externUid: string | null;
}

/** Which of these others have already, whatever the case of letters. */
export async function findTaken(em: EntityManager, wanted: WantedAttributes): Promise<TakenAttributes> {
  const row = await sqlOne<TakenAttributes>(em, text, [
    wanted.userId ?? 0,
    wanted.email,
    wanted.username,
    wanted.provider,
    wanted.externUid,
  ]);
  if (!row) throw new Error('a row of answers is always there');
  return row;
}

const text = `select
  exists (select 1 from users where lower(email) = lower($2) and id <> $1) as email,
  exists (select 1 from emails where lower(email) = lower($2) and user_id <> $1) as secondary_email,
  exists (select 1 from users where lower(username) = lower($3) and id <> $1) as username,
  exists (select 1 from namespaces where lower(path) = lower($3) and owner_id is null) as group_path,
  exists (select 1 from identities where provider = $4 and extern_uid = $5 and user_id <> $1) as identity`;
