import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Namespace } from './namespace.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

export const GroupMember = defineEntity({
  name: 'GroupMember',
  tableName: 'group_members',
  properties: {
    id: p.integer().primary(),
    group: () => p.manyToOne(Namespace).deleteRule('cascade'),
    user: () => p.manyToOne(User).deleteRule('cascade').index('group_members_user_id_index'),
    accessLevel: p.smallint(),
    /** 3 = as set for all projects. */
    notificationLevel: p.smallint().default(3),
    createdAt: createdAt(),
  },
  uniques: [{ name: 'group_members_group_id_user_id_key', properties: ['group', 'user'] }],
});
export type GroupMember = InferEntity<typeof GroupMember>;

export const ProjectMember = defineEntity({
  name: 'ProjectMember',
  tableName: 'project_members',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    user: () => p.manyToOne(User).deleteRule('cascade').index('project_members_user_id_index'),
    accessLevel: p.smallint(),
    notificationLevel: p.smallint().default(3),
    createdAt: createdAt(),
  },
  uniques: [{ name: 'project_members_project_id_user_id_key', properties: ['project', 'user'] }],
});
export type ProjectMember = InferEntity<typeof ProjectMember>;

/** A project shared with a group: its members get at most `groupAccess`. */
export const ProjectShare = defineEntity({
  name: 'ProjectShare',
  tableName: 'project_shares',
  properties: {
    id: p.integer().primary(),
    project: () => p.manyToOne(Project).deleteRule('cascade'),
    group: () => p.manyToOne(Namespace).deleteRule('cascade').index('project_shares_group_id_index'),
    groupAccess: p.smallint(),
    createdAt: createdAt(),
  },
  uniques: [{ name: 'project_shares_project_id_group_id_key', properties: ['project', 'group'] }],
});
export type ProjectShare = InferEntity<typeof ProjectShare>;
