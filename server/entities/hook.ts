import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, timestamp } from './columns.ts';
import { Project } from './project.ts';

/** An address that is told of what happens: in a project, or without one in the whole system. */
export const Hook = defineEntity({
  name: 'Hook',
  tableName: 'hooks',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).nullable().deleteRule('cascade').index('hooks_project_id_index'),
    /** Without the user and password that it may have come with. */
    url: p.string().length(2048),
    /** `user:password` of the address, encrypted. */
    credentialsSealed: p.blob().nullable(),
    /** What the receiver knows us by, encrypted. */
    tokenSealed: p.blob().nullable(),
    pushEvents: flag(true),
    tagPushEvents: flag(false),
    issuesEvents: flag(false),
    mergeRequestsEvents: flag(false),
    noteEvents: flag(false),
    buildEvents: flag(false),
    enableSslVerification: flag(true),
    /** Nothing is sent before then: it did not answer, or asked for a pause. */
    pausedUntil: timestamp().nullable(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  indexes: [
    {
      name: 'hooks_system_index',
      expression: `create index "hooks_system_index" on "hooks" ("id") where "project_id" is null`,
    },
  ],
});
export type Hook = InferEntity<typeof Hook>;

/** One message to a hook: waiting to be sent, or what came of it. */
export const HookDelivery = defineEntity({
  name: 'HookDelivery',
  tableName: 'hook_deliveries',
  properties: {
    id: p.bigint('number').primary(),
    hook: () => p.manyToOne(Hook).deleteRule('cascade'),
    /** As its header says it: `Push Hook`. */
    event: p.string().length(32),
    /** JSON of what it is about, until the message is written, which is when it is sent first. */
    subject: p.text().nullable(),
    /** The message, JSON. */
    body: p.text().nullable(),
    /** `dropped` is one that was left out, of which the log does not tell yet; it fails then. */
    state: p.enum(['waiting', 'delivered', 'failed', 'dropped']).default('waiting'),
    attempts: p.smallint().default(0),
    /** When it may be sent. */
    dueAt: createdAt(),
    /** Of the last attempt, as all below. */
    responseStatus: p.smallint().nullable(),
    /** The beginning of it. */
    responseBody: p.text().nullable(),
    error: p.string().nullable(),
    durationMs: p.integer().nullable(),
    sentAt: timestamp().nullable(),
    createdAt: createdAt(),
  },
  indexes: [
    { name: 'hook_deliveries_hook_id_id_index', properties: ['hook', 'id'] },
    {
      name: 'hook_deliveries_waiting_index',
      expression: `create index "hook_deliveries_waiting_index" on "hook_deliveries" ("hook_id") where "state" = 'waiting'`,
    },
    {
      name: 'hook_deliveries_dropped_index',
      expression: `create index "hook_deliveries_dropped_index" on "hook_deliveries" ("hook_id") where "state" = 'dropped'`,
    },
  ],
});
export type HookDelivery = InferEntity<typeof HookDelivery>;
