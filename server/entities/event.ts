import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, formerUser } from './columns.ts';
import { Note } from './note.ts';
import { Project } from './project.ts';

/** A line of a project's activity, interface: "Project event". */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    authorId: formerUser(),
    action: p.string().length(32),
    targetType: p.string().length(32).nullable(),
    targetId: p.integer().nullable(),
    targetTitle: p.string().nullable(),
    /** The comment that it tells of, which takes it along when it goes. */
    note: () => p.manyToOne(Note).nullable().deleteRule('cascade').index(false),
    /** The push and the full ref it tells of; unique, so that settling a push twice makes no second event. */
    pushId: p.integer().nullable(),
    ref: p.string().length(1024).nullable(),
    data: p.json<unknown>().nullable(),
    createdAt: createdAt(),
  },
  uniques: [{ name: 'events_push_id_ref_key', properties: ['pushId', 'ref'] }],
  indexes: [
    { name: 'events_project_id_id_index', properties: ['project', 'id'] },
    {
      name: 'events_note_id_index',
      expression: `create index "events_note_id_index" on "events" ("note_id") where "note_id" is not null`,
    },
    // Finds them when the thing goes.
    {
      name: 'events_target_index',
      expression: `create index "events_target_index" on "events" ("target_id", "target_type") where "target_id" is not null`,
    },
  ],
});
export type Event = InferEntity<typeof Event>;
