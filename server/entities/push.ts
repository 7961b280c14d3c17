import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** That a move of a branch is the merge of a merge request, and how its user wants that. */
export interface MergeIntent {
  /** Of the merge request. */
  id: number;
  /** The commit of its source that is merged. */
  headSha: string;
  message: string;
  removesSourceBranch: boolean;
}

/** One ref that a push wants to move; 40 zeros stand for "none". */
export interface RefChange {
  ref: string;
  oldSha: string;
  newSha: string;
  /** The pusher asked for no builds. */
  skipCi?: true;
  merge?: MergeIntent;
}

/**
 * A push, written before git moves a ref and deleted together with the writing of what follows from it.
 * A row that outlives its request is settled later from what the refs then say.
 */
export const Push = defineEntity({
  name: 'Push',
  tableName: 'pushes',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade').index('pushes_project_id_index'),
    user: () => p.manyToOne(User).nullable().deleteRule('set null').index('pushes_user_id_index'),
    changes: p.json<RefChange[]>(),
    createdAt: createdAt(),
  },
});
export type Push = InferEntity<typeof Push>;
