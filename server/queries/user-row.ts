import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { avatarOf } from './avatar.ts';
import type { Viewer } from './viewer.ts';

/** What answers show of a user to anybody. */
export interface UserProfileRow {
  id: number;
  username: string;
  name: string;
  email: string;
  state: Viewer['state'];
  is_admin: boolean;
  bio: string | null;
  location: string | null;
  skype: string;
  linkedin: string;
  twitter: string;
  website_url: string;
  /** Address of a picture. */
  avatar: string | null;
  created_at: Date;
}

/** A user as the database has him, for administrators and for himself. */
export interface UserRow extends UserProfileRow, Viewer {
  theme_id: number;
  color_scheme_id: number;
  two_factor_enabled: boolean;
  confirmed_at: Date | null;
  current_sign_in_at: Date | null;
  last_sign_in_at: Date | null;
  /** Projects in the personal namespace, which count against the limit. */
  personal_projects: number;
  /** Who he is at other services, in the order they were told. */
  identities: { provider: string; extern_uid: string }[];
}

export const userColumns = `u.id, u.username, u.name, u.email, u.state, u.is_admin, u.external, u.bio,
  u.location, u.skype, u.linkedin, u.twitter, u.website_url, ${avatarOf('u')} as avatar, u.theme_id, u.color_scheme_id,
  u.projects_limit, u.can_create_group, u.two_factor_enabled, u.confirmed_at, u.current_sign_in_at,
  u.last_sign_in_at, u.created_at,
  (select count(*)::int from projects p join namespaces n on n.id = p.namespace_id
    where n.owner_id = u.id and not p.pending_delete) as personal_projects,
  coalesce((select json_agg(json_build_object('provider', i.provider, 'extern_uid', i.extern_uid) order by i.id)
    from identities i where i.user_id = u.id), '[]') as identities`;

/** One column that holds a `UserProfileRow` from the table `u`, with its moment as text; null without a row. */
export const profileJson = `case when u.id is not null then json_build_object('id', u.id, 'username', u.username,
  'name', u.name, 'email', u.email, 'state', u.state, 'is_admin', u.is_admin, 'bio', u.bio, 'location', u.location,
  'skype', u.skype, 'linkedin', u.linkedin, 'twitter', u.twitter, 'website_url', u.website_url,
  'avatar', ${avatarOf('u')}, 'created_at', u.created_at) end`;

const byId = `select ${userColumns} from users u where u.id = $1`;

/** A user by id, whatever the state. */
export async function userById(em: EntityManager, id: number): Promise<UserRow | null> {
  return sqlOne<UserRow>(em, byId, [id]);
}
