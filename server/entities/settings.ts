import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag } from './columns.ts';

/** The one row (id 1) of settings that an administrator may change while the server runs. */
export const Settings = defineEntity({
  name: 'Settings',
  tableName: 'settings',
  properties: {
    id: p.integer().primary().autoincrement(false),
    runnersRegistrationTokenDigest: p.blob(),
    runnersRegistrationTokenSealed: p.blob(),
    defaultProjectsLimit: p.integer().default(10),
    /** 0, 10 or 20, as for projects. */
    defaultProjectVisibility: p.smallint().default(0),
    restrictedVisibilityLevels: p
      .array((i) => Number(i))
      .columnType('smallint[]')
      .default([]),
    /** Megabytes of 1024 × 1024 bytes; an artifacts file must be smaller. */
    maxArtifactsSize: p.integer().default(100),
    signupEnabled: flag(true),
    signinEnabled: flag(true),
    /** Whether users without a picture of their own are shown with one from Gravatar. */
    avatarServiceEnabled: flag(true),
    signInText: p.text().nullable(),
    homePageUrl: p.string().nullable(),
    afterSignOutPath: p.string().nullable(),
    /** 0 none, 1 no forced pushes and no removal, 2 only masters push. */
    defaultBranchProtection: p.smallint().default(1),
    /** Megabytes of 1024 × 1024 bytes. */
    maxAttachmentSize: p.integer().default(10),
    /** Minutes. */
    sessionExpireDelay: p.integer().default(10_080),
    defaultSnippetVisibility: p.smallint().default(0),
    defaultGroupVisibility: p.smallint().default(20),
    /** Domains of e-mail addresses, `*` for any part; empty: all. */
    restrictedSignupDomains: p.array().columnType('text[]').default([]),
    userOauthApplications: flag(true),
    sharedRunnersEnabled: flag(true),
    sendUserConfirmationEmail: flag(false),
    /** Whether hooks and imports may go to addresses of this machine and of private networks. */
    localRequestsAllowed: flag(false),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
});
export type Settings = InferEntity<typeof Settings>;
