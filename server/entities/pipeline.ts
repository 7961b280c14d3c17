import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CiJob } from '../ci/config.ts';
import { createdAt, flag, formerUser, timestamp } from './columns.ts';
import { Project } from './project.ts';

/** What a build shows of its commit, kept with the pipeline so that lists need not ask git. */
export interface PipelineCommit {
  message: string;
  authorName: string;
  authorEmail: string;
  /** ISO 8601 with the committer's own offset. */
  committedAt: string;
}

/** The builds of one ref at one commit. */
export const Pipeline = defineEntity({
  name: 'Pipeline',
  tableName: 'pipelines',
  properties: {
    id: p.integer().primary(),
    /** Number within the project. */
    iid: p.integer().nullable(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    userId: formerUser(),
    /** The push that made it. Unique with `ref`: settling a push twice makes no second pipeline. */
    pushId: p.integer().nullable(),
    /** The trigger that started it, and the variables that came with it, encrypted. */
    triggerId: p.integer().nullable(),
    triggerVariablesSealed: p.blob().nullable(),
    source: p.enum(['push', 'trigger', 'api', 'external']).default('push'),
    ref: p.string().length(1024),
    tag: flag(false),
    sha: p.string().length(40),
    beforeSha: p.string().length(40),
    commit: p.json<PipelineCommit>().nullable(),
    status: p.enum(['pending', 'running', 'failed', 'success', 'canceled', 'skipped']).default('pending'),
    /** Why the configuration at this commit could not be used. */
    yamlErrors: p.text().nullable(),
    /** What is odd about it, though it can be used. */
    yamlWarnings: p.text().nullable(),
    createdAt: createdAt(),
    startedAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
  },
  indexes: [
    { name: 'pipelines_project_id_sha_index', properties: ['project', 'sha'] },
    { name: 'pipelines_project_id_id_index', properties: ['project', 'id'] },
    { name: 'pipelines_project_id_ref_id_index', properties: ['project', 'ref', 'id'] },
    {
      name: 'pipelines_external_key',
      expression: `create unique index "pipelines_external_key" on "pipelines" ("project_id", "sha", "ref") where "source" = 'external'`,
    },
  ],
  uniques: [{ name: 'pipelines_push_id_ref_key', properties: ['pushId', 'ref', 'tag'] }],
});
export type Pipeline = InferEntity<typeof Pipeline>;

/** One planned job. A build row exists only once the job may start. */
export const PipelineJob = defineEntity({
  name: 'PipelineJob',
  tableName: 'pipeline_jobs',
  properties: {
    id: p.integer().primary(),
    pipeline: () => p.manyToOne(Pipeline).deleteRule('cascade'),
    position: p.integer(),
    name: p.text(),
    /** Sorted, each once. */
    tags: p.array().default([]),
    definition: p.json<CiJob>(),
    /** Set while the job waits to be started by hand: the id that its build will have. */
    plannedBuildId: p.integer().nullable(),
  },
  indexes: [
    {
      name: 'pipeline_jobs_planned_build_id_key',
      expression: `create unique index "pipeline_jobs_planned_build_id_key" on "pipeline_jobs" ("planned_build_id") where "planned_build_id" is not null`,
    },
  ],
  uniques: [{ name: 'pipeline_jobs_pipeline_id_position_key', properties: ['pipeline', 'position'] }],
});
export type PipelineJob = InferEntity<typeof PipelineJob>;
