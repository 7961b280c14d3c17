import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, timestamp } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** A secret that every build of a project gets. */
export const CiVariable = defineEntity({
  name: 'CiVariable',
  tableName: 'ci_variables',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    key: p.string(),
    valueSealed: p.blob(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  uniques: [{ name: 'ci_variables_project_id_key_key', properties: ['project', 'key'] }],
});
export type CiVariable = InferEntity<typeof CiVariable>;

/** A token that starts pipelines without any user. */
export const Trigger = defineEntity({
  name: 'Trigger',
  tableName: 'triggers',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade').index('triggers_project_id_index'),
    owner: () => p.manyToOne(User).nullable().deleteRule('set null'),
    tokenDigest: p.blob().unique('triggers_token_digest_key'),
    tokenSealed: p.blob(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
    /** Set when it is revoked; it starts nothing from then on. */
    deletedAt: timestamp().nullable(),
    lastUsed: timestamp().nullable(),
  },
});
export type Trigger = InferEntity<typeof Trigger>;
