import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Build } from './build.ts';
import { timestamp } from './columns.ts';

/** The trace of a build. While it is live its bytes are in `trace_parts`, afterwards in one blob. */
export const Trace = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  properties: {
    build: () => p.manyToOne(Build).primary().deleteRule('cascade'),
    /** Bytes. The next part must start here. */
    length: p.bigint('number').default(0),
    /** Set once the whole trace is in the blob store; the empty text when it has no bytes. */
    blobKey: p.string().nullable(),
    /** Last time that the runner sent a part, empty ones included, written at most every few seconds. */
    touchedAt: timestamp().defaultRaw('now()'),
  },
});
export type Trace = InferEntity<typeof Trace>;

export const TracePart = defineEntity({
  name: 'TracePart',
  tableName: 'trace_parts',
  properties: {
    trace: () => p.manyToOne(Trace).primary().deleteRule('cascade').fieldName('build_id'),
    start: p.bigint('number').primary(),
    bytes: p.blob(),
  },
});
export type TracePart = InferEntity<typeof TracePart>;
