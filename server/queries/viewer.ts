import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenDigest } from '../secrets.ts';
import { sqlOne } from '../sql.ts';

/** A user as the database has it: what answers show and what rights depend on. */
export interface UserRow {
  id: number;
  username: string;
  name: string;
  email: string;
  state: 'active' | 'blocked' | 'ldap_blocked';
  is_admin: boolean;
  external: boolean;
  bio: string | null;
  location: string | null;
  skype: string;
  linkedin: string;
  twitter: string;
  website_url: string;
  avatar: string | null;
  theme_id: number;
  color_scheme_id: number;
  projects_limit: number;
  can_create_group: boolean;
  two_factor_enabled: boolean;
  confirmed_at: Date | null;
  current_sign_in_at: Date | null;
  last_sign_in_at: Date | null;
  created_at: Date;
  /** Projects in the personal namespace, which count against the limit. */
  personal_projects: number;
}

/** The user on whose behalf a request acts. */
export type Viewer = UserRow;

export const userColumns = `u.id, u.username, u.name, u.email, u.state, u.is_admin, u.external, u.bio,
  u.location, u.skype, u.linkedin, u.twitter, u.website_url, u.avatar, u.theme_id, u.color_scheme_id,
  u.projects_limit, u.can_create_group, u.two_factor_enabled, u.confirmed_at, u.current_sign_in_at,
  u.last_sign_in_at, u.created_at,
  (select count(*)::int from projects p join namespaces n on n.id = p.namespace_id
    where n.owner_id = u.id and not p.pending_delete) as personal_projects`;

/** The active user with this private token, or null. */
export async function userByPrivateToken(em: EntityManager, token: string): Promise<Viewer | null> {
  return sqlOne<Viewer>(
    em,
    `select ${userColumns} from users u where u.private_token_digest = $1 and u.state = 'active'`,
    [tokenDigest(token)],
  );
}

/** A user by id, whatever the state. */
export async function userById(em: EntityManager, id: number): Promise<UserRow | null> {
  return sqlOne<UserRow>(em, `select ${userColumns} from users u where u.id = $1`, [id]);
}

/** A user by id when the text is a number, else by exact user name. */
export async function userByIdOrName(em: EntityManager, idOrName: string): Promise<UserRow | null> {
  if (/^\d{1,9}$/.test(idOrName)) return userById(em, Number(idOrName));
  return sqlOne<UserRow>(em, `select ${userColumns} from users u where u.username = $1`, [idOrName]);
}
