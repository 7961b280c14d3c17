import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, flag } from './columns.ts';
import { User } from './user.ts';

/** The place of projects: one per user, and every group. Paths are unique over both. */
export const Namespace = defineEntity({
  name: 'Namespace',
  tableName: 'namespaces',
  properties: {
    id: p.integer().primary(),
    kind: p.enum(['user', 'group']),
    path: p.string(),
    name: p.string(),
    description: p.string().default(''),
    /** The user whose namespace it is; null for groups. */
    owner: () => p.manyToOne(User).nullable().deleteRule('cascade').unique('namespaces_owner_id_key'),
    visibilityLevel: p.smallint().default(20),
    shareWithGroupLock: flag(false),
    avatar: p.string().nullable(),
    /** True from the moment a removal is accepted: nobody sees it from then on, and its path is no longer its own. */
    pendingDelete: flag(false),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  indexes: [
    {
      name: 'namespaces_path_key',
      expression: 'create unique index "namespaces_path_key" on "namespaces" (lower("path"))',
    },
    {
      name: 'namespaces_group_name_key',
      expression:
        'create unique index "namespaces_group_name_key" on "namespaces" ("name") where "kind" = \'group\' and not "pending_delete"',
    },
    {
      name: 'namespaces_search_index',
      expression: `create index "namespaces_search_index" on "namespaces" using gin ("name" gin_trgm_ops, "path" gin_trgm_ops)`,
    },
  ],
});
export type Namespace = InferEntity<typeof Namespace>;
