import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Project } from './project.ts';

/** What a project wants to have done by a day. */
export const Milestone = defineEntity({
  name: 'Milestone',
  tableName: 'milestones',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    /** Its number in the project. */
    iid: p.integer(),
    title: p.string().length(255),
    description: p.text().nullable(),
    dueDate: p.date().nullable(),
    state: p.enum(['active', 'closed']).default('active'),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  uniques: [
    { name: 'milestones_project_id_iid_key', properties: ['project', 'iid'] },
    { name: 'milestones_project_id_title_key', properties: ['project', 'title'] },
  ],
});
export type Milestone = InferEntity<typeof Milestone>;
