import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** A user's mark on a project. */
export const Star = defineEntity({
  name: 'Star',
  tableName: 'stars',
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade'),
    project: () => p.manyToOne(Project).primary().deleteRule('cascade').index('stars_project_id_index'),
    createdAt: createdAt(),
  },
});
export type Star = InferEntity<typeof Star>;

/** Written by the database itself whenever a project appears, goes, or changes what it is counted under. */
export const ProjectCount = defineEntity({
  name: 'ProjectCount',
  tableName: 'project_counts',
  properties: {
    id: p.bigint('number').primary(),
    visibilityLevel: p.smallint(),
    archived: p.boolean(),
    /** The number of projects is the sum over all rows. */
    change: p.integer(),
  },
});
export type ProjectCount = InferEntity<typeof ProjectCount>;
