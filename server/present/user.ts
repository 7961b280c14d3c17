import { z } from 'zod';
import type { UserProfileRow, UserRow } from '../queries/user-row.ts';
import { presentTime, presentTimeOrNull, Timestamp } from './timestamp.ts';

/** What every answer says of a user, interface: "User (summary)". */
export const UserSummaryJson = z.strictObject({
  id: z.number(),
  username: z.string(),
  name: z.string(),
  state: z.enum(['active', 'blocked']),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
});

/** What anybody signed in may read of another user. */
export const UserProfileJson = z.strictObject({
  ...UserSummaryJson.shape,
  created_at: Timestamp,
  is_admin: z.boolean(),
  bio: z.string().nullable(),
  location: z.string().nullable(),
  skype: z.string(),
  linkedin: z.string(),
  twitter: z.string(),
  website_url: z.string(),
});

/** Interface: "User (full)", for administrators and for oneself. */
export const UserFullJson = z.strictObject({
  ...UserProfileJson.shape,
  email: z.string(),
  last_sign_in_at: Timestamp.nullable(),
  confirmed_at: Timestamp.nullable(),
  theme_id: z.number(),
  color_scheme_id: z.number(),
  projects_limit: z.number(),
  current_sign_in_at: Timestamp.nullable(),
  identities: z.array(z.strictObject({ provider: z.string(), extern_uid: z.string() })),
  can_create_group: z.boolean(),
  can_create_project: z.boolean(),
  two_factor_enabled: z.boolean(),
  external: z.boolean(),
});

/** Oneself: the full user and the private token. */
export const UserSessionJson = z.strictObject({ ...UserFullJson.shape, private_token: z.string() });

export interface UserSummaryFacts {
  id: number;
  username: string;
  name: string;
  state: string;
  email: string;
  avatar: string | null;
}

export function presentUserSummary(user: UserSummaryFacts, origin: string): z.infer<typeof UserSummaryJson> {
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    state: user.state === 'active' ? 'active' : 'blocked',
    avatar_url: user.avatar,
    web_url: `${origin}/u/${user.username}`,
  };
}

export function presentUserProfile(user: UserProfileRow, origin: string): z.infer<typeof UserProfileJson> {
  return {
    ...presentUserSummary(user, origin),
    created_at: presentTime(user.created_at),
    is_admin: user.is_admin,
    bio: user.bio,
    location: user.location,
    skype: user.skype,
    linkedin: user.linkedin,
    twitter: user.twitter,
    website_url: user.website_url,
  };
}

export function presentUserFull(user: UserRow, origin: string): z.infer<typeof UserFullJson> {
  return {
    ...presentUserProfile(user, origin),
    email: user.email,
    last_sign_in_at: presentTimeOrNull(user.last_sign_in_at),
    confirmed_at: presentTimeOrNull(user.confirmed_at),
    theme_id: user.theme_id,
    color_scheme_id: user.color_scheme_id,
    projects_limit: user.projects_limit,
    current_sign_in_at: presentTimeOrNull(user.current_sign_in_at),
    identities: user.identities,
    can_create_group: user.can_create_group,
    can_create_project: user.projects_limit > user.personal_projects,
    two_factor_enabled: user.two_factor_enabled,
    external: user.external,
  };
}
