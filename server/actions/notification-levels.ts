import { invalid } from '../errors.ts';
import type { NotificationPlace } from '../queries/notification-levels.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

function changeOf(place: NotificationPlace['in']) {
  return {
    member: `update ${place}_members set notification_level = $3 where ${place}_id = $1 and user_id = $2 returning id`,
    other: `insert into notification_settings (${place}_id, user_id, level) values ($1, $2, $3)
      on conflict (user_id, ${place}_id) do update set level = excluded.level`,
  };
}

const changes = { project: changeOf('project'), group: changeOf('group') };

/** Sets what a user wants of a project or group that he can see. */
export async function setNotificationLevel(
  { em }: Work,
  { place, userId, level }: { place: NotificationPlace; userId: number; level: number },
): Promise<void> {
  const { member, other } = changes[place.in];
  const values = [place.id, userId, level];
  if (await sqlOne(em, member, values)) return;
  await sql(em, other, values);
}

/**
 * Sets what a user wants wherever nothing else is set.
 *
 * @throws AppError 400 for an address that is none of his.
 */
export async function setOwnNotifications(
  { em }: Work,
  userId: number,
  { level, email }: { level?: number | undefined; email?: string | undefined },
): Promise<void> {
  if (level !== undefined) {
    await sql(em, 'update users set notification_level = $2 where id = $1', [userId, level]);
  }
  if (email === undefined) return;
  // The primary one is kept as none: mail goes on to it when it changes.
  const row = await sqlOne(
    em,
    `update users u set notification_email = nullif(own.email, u.email)
     from (select id as user_id, email from users union all select user_id, email from emails) own
     where u.id = $1 and own.user_id = u.id and lower(own.email) = lower($2) returning u.id`,
    [userId, email],
  );
  if (!row) throw invalid({ notification_email: ['is not an email you own'] });
}
