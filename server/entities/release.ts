import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Project } from './project.ts';

/** What is said of a tag. */
export const Release = defineEntity({
  name: 'Release',
  tableName: 'releases',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    /** Its name, without `refs/tags/`. */
    tag: p.string().length(255),
    description: p.text(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  uniques: [{ name: 'releases_project_id_tag_key', properties: ['project', 'tag'] }],
});
export type Release = InferEntity<typeof Release>;
