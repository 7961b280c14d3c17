import type { Work } from '../services.ts';
import { audienceOf } from './audience.ts';
import type { Happening } from './happening.ts';
import { topicOf } from './topic.ts';

/**
 * Finds whom something concerns, and queues a message to each. When it is repeated, messages that still wait are not
 * queued again; one that was sent meanwhile has the same id as the first time, by which programs for mail know it.
 */
export async function notify(
  work: Work,
  { happening, id }: { happening: Happening; id: string },
): Promise<void> {
  if (!work.mail) return;
  const topic = await topicOf(work.em, happening);
  const userIds = topic ? await audienceOf(work, topic, happening) : [];
  if (userIds.length === 0) return;
  const news = { kind: 'happening', happening } as const;
  const tasks = userIds.map((userId) => ({ news, userId, mailId: `${id}.${userId}`, attempt: 1 }));
  await work.queue.addEach(work.em, 'send_mail', tasks, ({ mailId }) => `send_mail:${mailId}`);
}
