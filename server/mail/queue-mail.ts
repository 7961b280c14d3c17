import { randomUUID } from 'node:crypto';
import { inChunks } from '../../shared/in-chunks.ts';
import type { Work } from '../services.ts';
import type { News } from './news.ts';
import { mailedMembers } from './recipient.ts';

/** Projects of one statement. */
const atOnce = 100;

/*
 * Messages leave through the queue, once the transaction of `work` is committed. Where no mail server is set, none
 * is queued.
 */

export async function mailNewKey(work: Work, userId: number, key: { title: string }): Promise<void> {
  await queue(work, [{ userId, news: { kind: 'new_key', title: key.title } }]);
}

export async function mailNewEmail(work: Work, userId: number, email: string): Promise<void> {
  await queue(work, [{ userId, news: { kind: 'new_email', email } }]);
}

/** To a member who was added to a project or group, or whose level changed. */
export async function mailMember(
  work: Work,
  member: { in: 'project' | 'group'; id: number; userId: number; accessLevel: number; by: number },
): Promise<void> {
  const { userId, ...rest } = member;
  await queue(work, [{ userId, news: { kind: 'member', ...rest } }]);
}

/**
 * To all members of projects that have a new address, but those who want no mail.
 *
 * @param moves `oldPath` is `namespace/path` before.
 * @param by id of the user who did it.
 */
export async function mailProjectMoves(
  work: Work,
  moves: { projectId: number; oldPath: string }[],
  by: number,
): Promise<void> {
  if (!work.mail) return;
  for (const chunk of inChunks(moves, atOnce)) {
    const oldPaths = new Map(chunk.map(({ projectId, oldPath }) => [projectId, oldPath]));
    const members = await mailedMembers(work.em, [...oldPaths.keys()]);
    const messages = members.map(({ projectId, userId }) => {
      const oldPath = oldPaths.get(projectId) ?? '';
      return { userId, news: { kind: 'project_moved' as const, projectId, oldPath, by } };
    });
    await queue(work, messages);
  }
}

async function queue(work: Work, messages: { userId: number; news: News }[]): Promise<void> {
  if (!work.mail || messages.length === 0) return;
  const tasks = messages.map((message) => ({ ...message, mailId: randomUUID(), attempt: 1 }));
  await work.queue.addEach(work.em, 'send_mail', tasks);
}
