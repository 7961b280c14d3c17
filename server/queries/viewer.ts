import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenDigest } from '../secrets.ts';
import { sqlOne } from '../sql.ts';

/** The user on whose behalf a request acts: as much of him as rights and actions ask for. */
export interface Viewer {
  id: number;
  username: string;
  name: string;
  email: string;
  state: 'active' | 'blocked' | 'ldap_blocked';
  is_admin: boolean;
  external: boolean;
  can_create_group: boolean;
  projects_limit: number;
}

/** One column that holds a `Viewer` from the table `v`. */
export const viewerJson = `json_build_object('id', v.id, 'username', v.username, 'name', v.name,
  'email', v.email, 'state', v.state, 'is_admin', v.is_admin, 'external', v.external,
  'can_create_group', v.can_create_group, 'projects_limit', v.projects_limit)`;

/**
 * Finds, from `$1`, the active user of a private token or of an access token that is in force, or the user of an id,
 * in the table `v`.
 */
export const viewerBy = {
  token: `v.private_token_digest = $1 and v.state = 'active'`,
  accessToken: `v.id = (select t.user_id from oauth_tokens t where t.access_digest = $1
    and t.revoked_at is null and t.expires_at > now()) and v.state = 'active'`,
  id: 'v.id = $1',
};

const statements = {
  token: `select ${viewerJson} as viewer from users v where ${viewerBy.token}`,
  accessToken: `select ${viewerJson} as viewer from users v where ${viewerBy.accessToken}`,
  id: `select ${viewerJson} as viewer from users v where ${viewerBy.id}`,
};
const byName = `select ${viewerJson} as viewer from users v where v.username = $1`;

/** How a viewer is known: by the digest of a token of one of the two kinds, or by an id that was checked before. */
export type ViewerKey = { by: keyof typeof viewerBy; value: Buffer | number };

/** Largest id of a user. */
const maxId = 2_147_483_647;

/** The viewer of a key, or null. */
export async function viewerByKey(em: EntityManager, key: ViewerKey): Promise<Viewer | null> {
  return findViewer(em, statements[key.by], key.value);
}

/** The active user with this private token, or null. */
export async function viewerByToken(em: EntityManager, token: string): Promise<Viewer | null> {
  return viewerByKey(em, { by: 'token', value: tokenDigest(token) });
}

/** The active user for whom this access token is in force, or null. */
export async function viewerByAccessToken(em: EntityManager, token: string): Promise<Viewer | null> {
  return viewerByKey(em, { by: 'accessToken', value: tokenDigest(token) });
}

/** A user by id when the text is a number, else by exact user name; whatever the state. */
export async function viewerByIdOrName(em: EntityManager, idOrName: string): Promise<Viewer | null> {
  if (!/^\d+$/.test(idOrName)) return findViewer(em, byName, idOrName);
  const id = Number(idOrName);
  return id > maxId ? null : viewerByKey(em, { by: 'id', value: id });
}

/** Whether there is an access token of this digest that is no longer in force: revoked, or older than it may be. */
export async function isSpentAccessToken(em: EntityManager, digest: Buffer): Promise<boolean> {
  const spent =
    'select 1 from oauth_tokens where access_digest = $1 and (revoked_at is not null or expires_at <= now())';
  return (await sqlOne(em, spent, [digest])) !== null;
}

async function findViewer(em: EntityManager, text: string, value: unknown): Promise<Viewer | null> {
  const row = await sqlOne<{ viewer: Viewer }>(em, text, [value]);
  return row?.viewer ?? null;
}
