import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag, timestamp } from './columns.ts';
import { Namespace } from './namespace.ts';
import { User } from './user.ts';

/** Read alone for a page of all projects, from either end. */
function pageIndex(column: string) {
  const name = `projects_${column}_page_index`;
  return {
    name,
    expression: `create index "${name}" on "projects" ("${column}", "id") include ("visibility_level", "archived") where not "pending_delete"`,
  };
}

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    id: p.integer().primary(),
    namespace: () => p.manyToOne(Namespace).index('projects_namespace_id_index'),
    creator: () => p.manyToOne(User).nullable().index('projects_creator_id_index'),
    name: p.string(),
    path: p.string(),
    description: p.text().nullable(),
    /** Null until the first push. */
    defaultBranch: p.string().nullable(),
    visibilityLevel: p.smallint().default(0),
    archived: flag(false),
    /** True from the moment a deletion is accepted; the project is invisible from then on. */
    pendingDelete: flag(false),
    issuesEnabled: flag(true),
    mergeRequestsEnabled: flag(true),
    buildsEnabled: flag(true),
    wikiEnabled: flag(true),
    snippetsEnabled: flag(false),
    sharedRunnersEnabled: flag(true),
    publicBuilds: flag(true),
    allowGitFetch: flag(true),
    /** Seconds. */
    buildTimeout: p.integer().default(3600),
    /** Pattern that finds the coverage in a trace. */
    buildCoverageRegex: p.string().length(1024).nullable(),
    runnersTokenDigest: p.blob().unique('projects_runners_token_digest_key'),
    runnersTokenSealed: p.blob(),
    avatar: p.string().nullable(),
    /** Name of the picture among the files of its default branch that it is shown with; null without one. */
    logo: p.text().nullable(),
    tagList: p.array().default([]),
    /** Kept by a trigger of the issues. */
    openIssuesCount: p.integer().default(0),
    starCount: p.integer().default(0),
    forksCount: p.integer().default(0),
    /** Id of the project that this one was forked from. */
    forkedFromId: p.integer().nullable().index('projects_forked_from_id_index'),
    /** Of the repository that it was made from, if it was. */
    importStatus: p.enum(['none', 'started', 'finished', 'failed']).default('none'),
    importError: p.string().length(1024).nullable(),
    /** Number of the newest pipeline. */
    lastPipelineIid: p.integer().default(0),
    /** Of the newest ones, also where they are gone. */
    lastIssueIid: p.integer().default(0),
    lastMergeRequestIid: p.integer().default(0),
    lastMilestoneIid: p.integer().default(0),
    /** Of its files of objects, in bytes, when it was last tidied. */
    repositorySize: p.bigint('number').default(0),
    /** Since the repository was last tidied. */
    pushesSinceTidy: p.integer().default(0),
    /** When that was begun. */
    tidiedAt: timestamp().nullable(),
    lastActivityAt: createdAt(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  indexes: [
    {
      name: 'projects_namespace_path_key',
      expression:
        'create unique index "projects_namespace_path_key" on "projects" ("namespace_id", lower("path")) where not "pending_delete"',
    },
    {
      name: 'projects_namespace_name_key',
      expression:
        'create unique index "projects_namespace_name_key" on "projects" ("namespace_id", "name") where not "pending_delete"',
    },
    ...['created_at', 'updated_at', 'last_activity_at', 'name', 'path'].map(pageIndex),
    {
      name: 'projects_search_index',
      expression: `create index "projects_search_index" on "projects" using gin ("path" gin_trgm_ops, "name" gin_trgm_ops, "description" gin_trgm_ops)`,
    },
  ],
});
export type Project = InferEntity<typeof Project>;
