import { randomUUID } from 'node:crypto';
import type { Work } from '../services.ts';
import type { News } from './news.ts';
import { mailedMembers } from './recipient.ts';

/*
 * Messages leave through the queue, once the transaction of `work` is committed. Where no mail server is set, none
 * is queued.
 */

export async function mailNewKey(work: Work, userId: number, key: { title: string }): Promise<void> {
  await queue(work, [userId], { kind: 'new_key', title: key.title });
}

export async function mailNewEmail(work: Work, userId: number, email: string): Promise<void> {
  await queue(work, [userId], { kind: 'new_email', email });
}

/** To a member who was added to a project or group, or whose level changed. */
export async function mailMember(
  work: Work,
  member: { in: 'project' | 'group'; id: number; userId: number; accessLevel: number; by: number },
): Promise<void> {
  const { userId, ...rest } = member;
  await queue(work, [userId], { kind: 'member', ...rest });
}

/** To all members of a project that has a new address, but those who want no mail. */
export async function mailProjectMoved(
  work: Work,
  move: { projectId: number; oldPath: string; by: number },
): Promise<void> {
  if (!work.mail) return;
  await queue(work, await mailedMembers(work.em, move.projectId), { kind: 'project_moved', ...move });
}

async function queue(work: Work, userIds: number[], news: News): Promise<void> {
  if (!work.mail || userIds.length === 0) return;
  const tasks = userIds.map((userId) => ({ news, userId, mailId: randomUUID(), attempt: 1 }));
  await work.queue.addEach(work.em, 'send_mail', tasks);
}
