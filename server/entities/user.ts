import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, timestamp } from './columns.ts';

export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.integer().primary(),
    username: p.string(),
    name: p.string(),
    email: p.string(),
    passwordHash: p.text(),
    state: p.enum(['active', 'blocked', 'ldap_blocked']).default('active'),
    isAdmin: flag(false),
    external: flag(false),
    bio: p.string().nullable(),
    location: p.string().nullable(),
    skype: p.string().default(''),
    linkedin: p.string().default(''),
    twitter: p.string().default(''),
    websiteUrl: p.string().default(''),
    avatar: p.string().nullable(),
    themeId: p.integer().default(1),
    colorSchemeId: p.integer().default(1),
    projectsLimit: p.integer().default(10),
    canCreateGroup: flag(true),
    twoFactorEnabled: flag(false),
    /** 0 disabled, 1 participating, 2 watch, 4 mention; 3 stands for this one elsewhere. */
    notificationLevel: p.smallint().default(1),
    /** One of his addresses; null: the primary. */
    notificationEmail: p.string().nullable(),
    /** SHA-256 of the private token: the token is found by it, so no comparison leaks its letters. */
    privateTokenDigest: p.blob().unique('users_private_token_digest_key'),
    privateTokenSealed: p.blob(),
    confirmedAt: timestamp().nullable(),
    currentSignInAt: timestamp().nullable(),
    lastSignInAt: timestamp().nullable(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  indexes: [
    {
      name: 'users_username_key',
      expression: 'create unique index "users_username_key" on "users" (lower("username"))',
    },
    {
      name: 'users_email_key',
      expression: 'create unique index "users_email_key" on "users" (lower("email"))',
    },
    {
      name: 'users_search_index',
      expression: `create index "users_search_index" on "users" using gin ("name" gin_trgm_ops, "username" gin_trgm_ops, "email" gin_trgm_ops)`,
    },
  ],
});
export type User = InferEntity<typeof User>;
