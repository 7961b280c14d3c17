import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, formerUser, timestamp } from './columns.ts';
import { Milestone } from './milestone.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

function pageIndex(column: string) {
  const name = `merge_requests_project_id_${column}_id_index`;
  return {
    name,
    expression: `create index "${name}" on "merge_requests" ("project_id", "${column}", "id") where "deleted_at" is null`,
  };
}

const isOpen = `"state" in ('opened', 'reopened') and "deleted_at" is null`;

/** The wish to have the commits of one branch in another one. */
export const MergeRequest = defineEntity({
  name: 'MergeRequest',
  tableName: 'merge_requests',
  properties: {
    id: p.integer().primary(),
    /** Where it goes to, and where it is shown. */
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    /** Its number in the project, never given twice. */
    iid: p.integer(),
    /** Null once that is gone. */
    sourceProject: () =>
      p.manyToOne(Project).nullable().deleteRule('set null').index('merge_requests_source_project_id_index'),
    /** Without `refs/heads/`, like the target. */
    sourceBranch: p.string().length(1024),
    targetBranch: p.string().length(1024),
    title: p.string().length(255),
    description: p.text().nullable(),
    state: p.enum(['opened', 'closed', 'merged', 'reopened']).default('opened'),
    author: () => p.manyToOne(User).deleteRule('cascade').index('merge_requests_author_id_index'),
    assignee: () =>
      p.manyToOne(User).nullable().deleteRule('set null').index('merge_requests_assignee_id_index'),
    milestone: () =>
      p.manyToOne(Milestone).nullable().deleteRule('set null').index('merge_requests_milestone_id_index'),
    /** Of the two commits below: it says nothing of others. */
    mergeStatus: p.enum(['unchecked', 'can_be_merged', 'cannot_be_merged']).default('unchecked'),
    checkedSourceSha: p.string().length(40).nullable(),
    checkedTargetSha: p.string().length(40).nullable(),
    /** What the source branch had when it was last pushed to while the request was open. */
    headSha: p.string().length(40).nullable(),
    /** The best common ancestor of that and the target branch; null for histories without one. */
    baseSha: p.string().length(40).nullable(),
    mergeWhenBuildSucceeds: flag(false),
    /** Who merges it, or has, and with which message. */
    mergeUserId: formerUser(),
    mergeMessage: p.text().nullable(),
    removesSourceBranch: flag(false),
    mergeCommitSha: p.string().length(40).nullable(),
    /** Comments of users, without votes. */
    userNotesCount: p.integer().default(0),
    upvotes: p.integer().default(0),
    downvotes: p.integer().default(0),
    updatedById: formerUser(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
    /** From then on nobody sees it; its number stays taken. */
    deletedAt: timestamp().nullable(),
  },
  uniques: [{ name: 'merge_requests_project_id_iid_key', properties: ['project', 'iid'] }],
  indexes: [
    pageIndex('created_at'),
    pageIndex('updated_at'),
    {
      name: 'merge_requests_open_key',
      expression: `create unique index "merge_requests_open_key" on "merge_requests" ("source_project_id", "source_branch", "project_id", "target_branch") where ${isOpen}`,
    },
    {
      name: 'merge_requests_open_target_index',
      expression: `create index "merge_requests_open_target_index" on "merge_requests" ("project_id", "target_branch") where ${isOpen}`,
    },
    {
      name: 'merge_requests_closed_source_index',
      expression: `create index "merge_requests_closed_source_index" on "merge_requests" ("source_project_id", "source_branch") where "state" = 'closed' and "deleted_at" is null`,
    },
  ],
});
export type MergeRequest = InferEntity<typeof MergeRequest>;
