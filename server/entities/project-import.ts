import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** Where a project is being filled from. Goes with the end of the import, so that no password stays. */
export const ProjectImport = defineEntity({
  name: 'ProjectImport',
  tableName: 'project_imports',
  properties: {
    project: () => p.manyToOne(Project).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).nullable().deleteRule('set null').index('project_imports_user_id_index'),
    /** Without credentials. */
    url: p.text(),
    credentialsSealed: p.blob().nullable(),
    createdAt: createdAt(),
  },
});
export type ProjectImport = InferEntity<typeof ProjectImport>;
