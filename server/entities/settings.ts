import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';

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
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
});
export type Settings = InferEntity<typeof Settings>;
