import { type NotificationLevel, notificationLevels } from '../../shared/notification-level.ts';
import { setNotificationLevel, setOwnNotifications } from '../actions/notification-levels.ts';
import { onProject, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { onGroup } from '../http/group-access.ts';
import { choice, optional, text } from '../http/params.ts';
import {
  NotificationLevelJson,
  NotificationSettingsJson,
  presentLevel,
} from '../present/notification-level.ts';
import {
  type NotificationPlace,
  notificationLevel,
  ownNotifications,
} from '../queries/notification-levels.ts';
import type { Work } from '../services.ts';

const getOwn = endpoint({
  method: 'GET',
  path: '/notification_settings',
  summary: 'How much mail the caller wants, and where to',
  access: signedIn(),
  returns: NotificationSettingsJson,
  run: ({ viewer, work }) => presentOwn(work, viewer.id),
});

const putOwn = endpoint({
  method: 'PUT',
  path: '/notification_settings',
  summary: 'Changes how much mail the caller wants, and where to',
  access: signedIn(),
  params: {
    level: optional(choice(['disabled', 'participating', 'watch', 'mention'])),
    notification_email: optional(text({ max: 255 })),
  },
  returns: NotificationSettingsJson,
  async run({ viewer, params, work }) {
    const level = numberOf(params.level);
    await setOwnNotifications(work, viewer.id, { level, email: params.notification_email });
    return presentOwn(work, viewer.id);
  },
});

const levelOfPlace = {
  level: optional(choice(['disabled', 'participating', 'watch', 'global', 'mention'])),
};

const getOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/notification_settings',
  summary: 'How much mail of the project the caller wants',
  access: onProject('read_project'),
  returns: NotificationLevelJson,
  run: ({ viewer, project, work }) => presentIn(work, { in: 'project', id: project.id }, viewer.id),
});

const putOfProject = endpoint({
  method: 'PUT',
  path: '/projects/:id/notification_settings',
  summary: 'Changes how much mail of the project the caller wants',
  access: onProject('read_project'),
  params: levelOfPlace,
  returns: NotificationLevelJson,
  run: ({ viewer, project, params, work }) =>
    change(work, { in: 'project', id: project.id }, { userId: viewer.id, level: params.level }),
});

const getOfGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/notification_settings',
  summary: 'How much mail of the group the caller wants',
  access: onGroup('read_group'),
  returns: NotificationLevelJson,
  run: ({ viewer, group, work }) => presentIn(work, { in: 'group', id: group.id }, viewer.id),
});

const putOfGroup = endpoint({
  method: 'PUT',
  path: '/groups/:id/notification_settings',
  summary: 'Changes how much mail of the group the caller wants',
  access: onGroup('read_group'),
  params: levelOfPlace,
  returns: NotificationLevelJson,
  run: ({ viewer, group, params, work }) =>
    change(work, { in: 'group', id: group.id }, { userId: viewer.id, level: params.level }),
});

export const endpoints: Endpoint[] = [getOwn, putOwn, getOfProject, putOfProject, getOfGroup, putOfGroup];

async function presentOwn(work: Work, userId: number) {
  const { level, email } = await ownNotifications(work.em, userId);
  return { level: presentLevel(level), notification_email: email };
}

async function presentIn(work: Work, place: NotificationPlace, userId: number) {
  return { level: presentLevel(await notificationLevel(work.em, place, userId)) };
}

async function change(
  work: Work,
  place: NotificationPlace,
  { userId, level }: { userId: number; level: NotificationLevel | undefined },
) {
  const number = numberOf(level);
  if (number !== undefined) await setNotificationLevel(work, { place, userId, level: number });
  return presentIn(work, place, userId);
}

function numberOf(level: NotificationLevel | undefined): number | undefined {
  return level === undefined ? undefined : notificationLevels[level];
}
