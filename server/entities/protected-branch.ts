import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag } from './columns.ts';
import { Project } from './project.ts';

/** The rule for a branch of this name, whether there is one now or not. */
export const ProtectedBranch = defineEntity({
  name: 'ProtectedBranch',
  tableName: 'protected_branches',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    /** Without `refs/heads/`. */
    name: p.string().length(255),
    developersCanPush: flag(false),
    developersCanMerge: flag(false),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  uniques: [{ name: 'protected_branches_project_id_name_key', properties: ['project', 'name'] }],
});
export type ProtectedBranch = InferEntity<typeof ProtectedBranch>;
