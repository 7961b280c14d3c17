import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, timestamp } from './columns.ts';
import { Project } from './project.ts';

export const Runner = defineEntity({
  name: 'Runner',
  tableName: 'runners',
  properties: {
    id: p.integer().primary(),
    tokenDigest: p.blob().unique('runners_token_digest_key'),
    tokenSealed: p.blob(),
    description: p.string().nullable(),
    isShared: flag(false),
    /** False = paused: it gets no builds. */
    active: flag(true),
    locked: flag(false),
    runUntagged: flag(true),
    tagList: p.array().default([]),
    name: p.string().nullable(),
    version: p.string().nullable(),
    revision: p.string().nullable(),
    platform: p.string().nullable(),
    architecture: p.string().nullable(),
    /** Last poll or report, written at most once a minute. */
    contactedAt: timestamp().nullable(),
    createdAt: createdAt(),
  },
});
export type Runner = InferEntity<typeof Runner>;

/** A project that a specific runner serves. */
export const RunnerProject = defineEntity({
  name: 'RunnerProject',
  tableName: 'runner_projects',
  properties: {
    runner: () => p.manyToOne(Runner).primary().deleteRule('cascade'),
    project: () =>
      p.manyToOne(Project).primary().deleteRule('cascade').index('runner_projects_project_id_index'),
  },
});
export type RunnerProject = InferEntity<typeof RunnerProject>;
