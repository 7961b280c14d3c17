import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';

/** A project or a group. */
export interface NotificationPlace {
  in: 'project' | 'group';
  id: number;
}

function levelIn(place: NotificationPlace['in']): string {
  return `select coalesce(
    (select m.notification_level from ${place}_members m where m.${place}_id = $1 and m.user_id = $2),
    (select s.level from notification_settings s where s.${place}_id = $1 and s.user_id = $2), 3) as level`;
}

const texts = { project: levelIn('project'), group: levelIn('group') };

/** What a user wants of a project or group: by his membership, else by what he set without one. */
export async function notificationLevel(
  em: EntityManager,
  place: NotificationPlace,
  userId: number,
): Promise<number> {
  const row = await sqlOne<{ level: number }>(em, texts[place.in], [place.id, userId]);
  return row?.level ?? 3;
}

export interface OwnNotifications {
  level: number;
  email: string;
}

/** What a user wants wherever nothing else is set, and the address that his mail goes to. */
export async function ownNotifications(em: EntityManager, userId: number): Promise<OwnNotifications> {
  const row = await sqlOne<OwnNotifications>(
    em,
    `select notification_level as level, coalesce(notification_email, email) as email from users where id = $1`,
    [userId],
  );
  if (!row) throw new Error('the user is gone');
  return row;
}
