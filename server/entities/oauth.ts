import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, timestamp } from './columns.ts';
import { User } from './user.ts';

/** A program that acts for users with tokens of its own. */
export const OauthApplication = defineEntity({
  name: 'OauthApplication',
  tableName: 'oauth_applications',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    /** What it calls itself towards this server: 64 hexadecimal digits. */
    uid: p.string().length(64).unique('oauth_applications_uid_key'),
    /** SHA-256. Programs that cannot keep a secret have none to prove who they are. */
    secretDigest: p.blob(),
    confidential: flag(true),
    redirectUris: p.array().columnType('text[]'),
    /** Null: of the whole instance. */
    owner: () =>
      p.manyToOne(User).nullable().deleteRule('cascade').index('oauth_applications_owner_id_index'),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
});
export type OauthApplication = InferEntity<typeof OauthApplication>;

/** What a user allowed a program on the page of consent: it is exchanged for the first tokens. */
export const OauthCode = defineEntity({
  name: 'OauthCode',
  tableName: 'oauth_codes',
  properties: {
    id: p.integer().primary(),
    codeDigest: p.blob().unique('oauth_codes_code_digest_key'),
    application: () =>
      p.manyToOne(OauthApplication).deleteRule('cascade').index('oauth_codes_application_id_index'),
    user: () => p.manyToOne(User).deleteRule('cascade').index('oauth_codes_user_id_index'),
    redirectUri: p.text(),
    /** SHA-256 of the verifier as base64url; null where the program proves itself by its secret alone. */
    codeChallenge: p.string().length(64).nullable(),
    /** Of all tokens that come of it. */
    family: p.uuid().defaultRaw('gen_random_uuid()'),
    createdAt: createdAt(),
    expiresAt: timestamp(),
    /** A used one stays for a while: seen again, it was stolen. */
    usedAt: timestamp().nullable(),
  },
});
export type OauthCode = InferEntity<typeof OauthCode>;

/** An access token, with the refresh token that was handed out beside it. */
export const OauthToken = defineEntity({
  name: 'OauthToken',
  tableName: 'oauth_tokens',
  properties: {
    id: p.integer().primary(),
    accessDigest: p.blob().unique('oauth_tokens_access_digest_key'),
    refreshDigest: p.blob().nullable().unique('oauth_tokens_refresh_digest_key'),
    /** Null for tokens that a user got with his password alone. */
    application: () =>
      p
        .manyToOne(OauthApplication)
        .nullable()
        .deleteRule('cascade')
        .index('oauth_tokens_application_id_index'),
    /** Null for tokens of a program that acts for nobody. */
    user: () => p.manyToOne(User).nullable().deleteRule('cascade').index('oauth_tokens_user_id_index'),
    /** The same for all tokens that came of one consent or sign-in. */
    family: p.uuid().index('oauth_tokens_family_index'),
    createdAt: createdAt(),
    expiresAt: timestamp(),
    refreshExpiresAt: timestamp().nullable(),
    /** Set when the refresh token was exchanged. Seen again, it was stolen. */
    refreshedAt: timestamp().nullable(),
    revokedAt: timestamp().nullable(),
  },
});
export type OauthToken = InferEntity<typeof OauthToken>;
