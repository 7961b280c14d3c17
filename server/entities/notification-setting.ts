import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Namespace } from './namespace.ts';
import { Project } from './project.ts';
import { User } from './user.ts';

/**
 * How much mail somebody wants of a project or group that he is no member of; a member's level lies with his
 * membership, so that leaving ends it.
 */
export const NotificationSetting = defineEntity({
  name: 'NotificationSetting',
  tableName: 'notification_settings',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    project: () =>
      p.manyToOne(Project).nullable().deleteRule('cascade').index('notification_settings_project_id_index'),
    group: () =>
      p.manyToOne(Namespace).nullable().deleteRule('cascade').index('notification_settings_group_id_index'),
    /** As the column of users. */
    level: p.smallint(),
    createdAt: createdAt(),
  },
  uniques: [
    { name: 'notification_settings_user_id_project_id_key', properties: ['user', 'project'] },
    { name: 'notification_settings_user_id_group_id_key', properties: ['user', 'group'] },
  ],
});
export type NotificationSetting = InferEntity<typeof NotificationSetting>;
