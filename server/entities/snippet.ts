import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** A piece of text to show around, in a project or of a user alone. */
export const Snippet = defineEntity({
  name: 'Snippet',
  tableName: 'snippets',
  properties: {
    id: p.integer().primary(),
    /** Null for a personal one. */
    project: () => p.manyToOne(Project).nullable().deleteRule('cascade').index('snippets_project_id_index'),
    author: () => p.manyToOne(User).deleteRule('cascade').index('snippets_author_id_index'),
    title: p.string().length(255),
    fileName: p.string().length(255),
    content: p.text(),
    visibilityLevel: p.smallint().default(0),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
});
export type Snippet = InferEntity<typeof Snippet>;
