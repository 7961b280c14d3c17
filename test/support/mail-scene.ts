import { type Happening, tellPeople } from '../../server/mail/happening.ts';
import { type NotificationLevel, notificationLevels } from '../../shared/notification-level.ts';
import type { TestAppOptions } from './app.ts';
import type { MadeProject, MadeUser } from './make.ts';
import { withMail } from './with-mail.ts';

/** An application that mails, with users who want some of it. Call at the top of the file. */
export function withMailScene(options: TestAppOptions = {}) {
  const mail = withMail(options);
  const { holder, post, receivers } = mail;

  /** How much mail he wants wherever nothing else is set. */
  async function wants(user: MadeUser, level: NotificationLevel): Promise<void> {
    const values = [user.id, notificationLevels[level]];
    await holder.app.rows('update users set notification_level = $2 where id = $1', values);
  }

  /** A developer of the project who wants so much mail. */
  async function member(project: MadeProject, level: NotificationLevel = 'participating'): Promise<MadeUser> {
    const user = await holder.app.make.member(project, 'developer');
    await wants(user, level);
    return user;
  }

  async function subscribe(
    user: MadeUser,
    thing: { issue_id?: number; merge_request_id?: number; label_id?: number },
    subscribed = true,
  ): Promise<void> {
    await holder.app.make.row('subscriptions', { user_id: user.id, subscribed, ...thing });
  }

  /** @returns names of those who got mail of it. */
  async function tell(happening: Happening): Promise<string[]> {
    post.server.received.length = 0;
    await tellPeople(holder.app.work, happening);
    await holder.app.runTasks();
    return receivers();
  }

  return { ...mail, wants, member, subscribe, tell };
}

export function names(...users: MadeUser[]): string[] {
  return users.map(({ username }) => username).sort();
}
