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

/** Finds, from `$1`, the active user of a private token, or the user of an id, in the table `v`. */
export const viewerBy = {
  token: `v.private_token_digest = $1 and v.state = 'active'`,
  id: 'v.id = $1',
};

const byToken = `select ${viewerJson} as viewer from users v where ${viewerBy.token}`;
const byId = `select ${viewerJson} as viewer from users v where ${viewerBy.id}`;
const byName = `select ${viewerJson} as viewer from users v where v.username = $1`;

/** The active user with this private token, or null. */
export async function viewerByToken(em: EntityManager, token: string): Promise<Viewer | null> {
  return findViewer(em, byToken, tokenDigest(token));
}

/** A user by id when the text is a number, else by exact user name; whatever the state. */
export async function viewerByIdOrName(em: EntityManager, idOrName: string): Promise<Viewer | null> {
  if (/^\d{1,9}$/.test(idOrName)) return findViewer(em, byId, Number(idOrName));
  return findViewer(em, byName, idOrName);
}

async function findViewer(em: EntityManager, text: string, value: unknown): Promise<Viewer | null> {
  const row = await sqlOne<{ viewer: Viewer }>(em, text, [value]);
  return row?.viewer ?? null;
}
