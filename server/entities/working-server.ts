import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { timestamp } from './columns.ts';

/** A server process at work. Its row is kept fresh; one that is stale is of a process that is gone. */
export const WorkingServer = defineEntity({
  name: 'WorkingServer',
  tableName: 'working_servers',
  properties: {
    id: p.uuid().primary(),
    /** Name under which it locks background tasks; null while it carries out none. */
    worker: p.text().nullable(),
    /** Since when it has been able to serve without a break: it runs, and reaches the database. */
    servingSince: timestamp().defaultRaw('now()'),
    seenAt: timestamp().defaultRaw('now()'),
  },
});
export type WorkingServer = InferEntity<typeof WorkingServer>;
