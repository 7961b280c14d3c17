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

/** What a variable was before it was changed or removed. Builds that had it may have written it into their traces. */
export const FormerValue = defineEntity({
  name: 'FormerValue',
  tableName: 'former_values',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    valueSealed: p.blob(),
    beganAt: timestamp(),
    endedAt: createdAt(),
  },
  indexes: [{ name: 'former_values_project_id_ended_at_index', properties: ['project', 'endedAt'] }],
});
export type FormerValue = InferEntity<typeof FormerValue>;

/** A token that starts pipelines without any user. */
export const Trigger = defineEntity({
  name: 'Trigger',
  tableName: 'triggers',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade').index('triggers_project_id_index'),
    owner: () => p.manyToOne(User).nullable().deleteRule('set null').index('triggers_owner_id_index'),
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
