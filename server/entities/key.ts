import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag } from './columns.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/** A public SSH key. One without a user is a deploy key: it reads the projects that have it enabled. */
export const Key = defineEntity({
  name: 'Key',
  tableName: 'keys',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).nullable().deleteRule('cascade').index('keys_user_id_index'),
    title: p.string(),
    /** Type, base64 and comment, with one space between them. */
    key: p.text(),
    /** MD5 in pairs of digits with colons, as answers show it. */
    fingerprint: p.string().length(47),
    /** As OpenSSH prints it, `SHA256:` included. Keys are found by it; nobody shares one. */
    fingerprintSha256: p.string().length(50).unique('keys_fingerprint_sha256_key'),
    /** A deploy key that every project may enable. */
    public: flag(false),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
});
export type Key = InferEntity<typeof Key>;

export const ProjectDeployKey = defineEntity({
  name: 'ProjectDeployKey',
  tableName: 'project_deploy_keys',
  properties: {
    project: () => p.manyToOne(Project).primary().deleteRule('cascade'),
    key: () => p.manyToOne(Key).primary().deleteRule('cascade').index('project_deploy_keys_key_id_index'),
    createdAt: createdAt(),
  },
});
export type ProjectDeployKey = InferEntity<typeof ProjectDeployKey>;
