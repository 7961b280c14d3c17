import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, formerUser, timestamp } from './columns.ts';
import { Pipeline, PipelineJob } from './pipeline.ts';
import { Project } from './project.ts';

export const Build = defineEntity({
  name: 'Build',
  tableName: 'builds',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    pipeline: () => p.manyToOne(Pipeline).deleteRule('cascade'),
    job: () => p.manyToOne(PipelineJob).deleteRule('cascade').index('builds_job_id_index'),
    userId: formerUser(),
    /** Who runs or ran it. No foreign key: with one, removing a runner would change every build it ever had. */
    runnerId: p.integer().nullable(),
    name: p.text(),
    stage: p.text(),
    stageIdx: p.integer(),
    status: p.enum(['pending', 'running', 'failed', 'success', 'canceled']).default('pending'),
    allowFailure: flag(false),
    /** False once a newer build of the same job exists. */
    latest: flag(true),
    failureReason: p.string().length(64).nullable(),
    coverage: p.float().nullable(),
    artifactsKey: p.string().nullable(),
    artifactsFilename: p.string().nullable(),
    artifactsSize: p.bigint('number').nullable(),
    artifactsExpireAt: timestamp().nullable(),
    erasedAt: timestamp().nullable(),
    erasedById: formerUser(),
    createdAt: createdAt(),
    startedAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
  },
  indexes: [
    {
      name: 'builds_artifacts_expire_at_index',
      expression: `create index "builds_artifacts_expire_at_index" on "builds" ("artifacts_expire_at") where "artifacts_key" is not null`,
    },
    { name: 'builds_project_id_id_index', properties: ['project', 'id'] },
    { name: 'builds_pipeline_id_index', properties: ['pipeline'] },
    {
      name: 'builds_running_index',
      expression: `create index "builds_running_index" on "builds" ("runner_id") where "status" = 'running'`,
    },
  ],
});
export type Build = InferEntity<typeof Build>;

/** The distinct sets of tags that jobs ask for. Few rows, so a runner's claim looks only at these. */
export const TagSet = defineEntity({
  name: 'TagSet',
  tableName: 'tag_sets',
  properties: {
    id: p.integer().primary(),
    tags: p.array().unique('tag_sets_tags_key'),
  },
});
export type TagSet = InferEntity<typeof TagSet>;

/** The queue: one row per pending build that a runner may take now. */
export const PendingBuild = defineEntity({
  name: 'PendingBuild',
  tableName: 'pending_builds',
  properties: {
    build: () => p.manyToOne(Build).primary().deleteRule('cascade'),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    tagSet: () => p.manyToOne(TagSet),
    /** True when the project takes shared runners. */
    shared: p.boolean(),
    createdAt: timestamp(),
  },
  indexes: [
    {
      name: 'pending_builds_shared_index',
      expression:
        'create index "pending_builds_shared_index" on "pending_builds" ("tag_set_id", "created_at", "build_id") where "shared"',
    },
    { name: 'pending_builds_project_index', properties: ['project', 'tagSet', 'createdAt', 'build'] },
  ],
});
export type PendingBuild = InferEntity<typeof PendingBuild>;
