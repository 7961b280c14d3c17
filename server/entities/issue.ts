import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, formerUser, timestamp } from './columns.ts';
import { Milestone } from './milestone.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

function pageIndex(column: string) {
  const name = `issues_project_id_${column}_id_index`;
  return {
    name,
    expression: `create index "${name}" on "issues" ("project_id", "${column}", "id") where "deleted_at" is null`,
  };
}

/** What is to be done, or is wrong. Projects count their open ones by a trigger. */
export const Issue = defineEntity({
  name: 'Issue',
  tableName: 'issues',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    /** Its number in the project, never given twice. */
    iid: p.integer(),
    title: p.string().length(255),
    description: p.text().nullable(),
    state: p.enum(['opened', 'closed']).default('opened'),
    author: () => p.manyToOne(User).deleteRule('cascade').index(false),
    assignee: () => p.manyToOne(User).nullable().deleteRule('set null').index('issues_assignee_id_index'),
    milestone: () =>
      p.manyToOne(Milestone).nullable().deleteRule('set null').index('issues_milestone_id_index'),
    /** Comments of users, without votes. */
    userNotesCount: p.integer().default(0),
    /** Id of the issue that goes on with it in another project. */
    movedToId: p.integer().nullable(),
    updatedById: formerUser(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
    /** From then on nobody sees it; its number stays taken. */
    deletedAt: timestamp().nullable(),
  },
  uniques: [{ name: 'issues_project_id_iid_key', properties: ['project', 'iid'] }],
  indexes: [
    pageIndex('created_at'),
    pageIndex('updated_at'),
    // All that a user wrote, wherever.
    { name: 'issues_author_id_created_at_id_index', properties: ['author', 'createdAt', 'id'] },
  ],
});
export type Issue = InferEntity<typeof Issue>;
