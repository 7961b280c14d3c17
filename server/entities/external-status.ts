import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, formerUser, timestamp } from './columns.ts';
import { Pipeline } from './pipeline.ts';

/** What a service outside says of a commit. It stands beside the builds of a pipeline. */
export const ExternalStatus = defineEntity({
  name: 'ExternalStatus',
  tableName: 'external_statuses',
  properties: {
    /** From the sequence of the builds: one list shows both, in the order they were made. */
    id: p.integer().primary().autoincrement(false),
    pipeline: () => p.manyToOne(Pipeline).deleteRule('cascade'),
    userId: formerUser(),
    name: p.string(),
    /** As it was sent; null when the branch was looked up. */
    ref: p.string().length(1024).nullable(),
    status: p.enum(['pending', 'running', 'failed', 'success', 'canceled']),
    targetUrl: p.text().nullable(),
    description: p.text().nullable(),
    /** False once a newer one of the same name exists. */
    latest: flag(true),
    createdAt: createdAt(),
    startedAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
  },
  indexes: [
    { name: 'external_statuses_pipeline_id_index', properties: ['pipeline'] },
    {
      name: 'external_statuses_latest_key',
      expression:
        'create unique index "external_statuses_latest_key" on "external_statuses" ("pipeline_id", "name") where "latest"',
    },
  ],
});
export type ExternalStatus = InferEntity<typeof ExternalStatus>;
