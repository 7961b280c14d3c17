import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, formerUser } from './columns.ts';
import { Project } from './project.ts';

/** A file that texts of a project show or link to. Its bytes are a blob. */
export const Upload = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade').index('uploads_project_id_index'),
    uploaderId: formerUser(),
    /** Part of its address: nobody finds a file by guessing. */
    secret: p.string().length(32).unique('uploads_secret_key'),
    filename: p.string(),
    /** Bytes. */
    size: p.integer(),
    blobKey: p.string(),
    createdAt: createdAt(),
  },
});
export type Upload = InferEntity<typeof Upload>;
