import { backoffDelay } from '../../shared/retry.ts';
import type { Work } from '../services.ts';
import { newEmailLetter, newKeyLetter } from './account-letters.ts';
import { happeningLetter } from './happening-letter.ts';
import type { Mailer } from './mailer.ts';
import type { Letter, MailTask } from './news.ts';
import { memberLetter, projectMovedLetter } from './place-letters.ts';
import { accountHolder, type Recipient, recipientIn } from './recipient.ts';

/** About a day and a half, at the pauses below. */
const mostAttempts = 40;
const pauses = { first: 30_000, max: 3_600_000 };

/** Robots do not answer it. */
const automatic = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

/**
 * Sends one message to one user, or tries again later. One that the mail server refuses for good is given up, and
 * so is one whose recipient or subject is gone.
 */
export async function sendMail(work: Work, task: MailTask): Promise<void> {
  const { mail } = work;
  if (!mail) return;
  const recipient = await recipientOf(work, task);
  const letter = recipient && (await letterOf(work, mail, task));
  if (!letter) return;
  const outcome = await mail.send({
    ...letter,
    to: recipient,
    headers: { ...automatic, ...letter.headers },
    id: letter.id ?? task.mailId,
  });
  if (outcome.is === 'sent') return;
  const told = { user: task.userId, mail: task.mailId, attempt: task.attempt, reason: outcome.reason };
  if (outcome.is === 'refused' || task.attempt >= mostAttempts) {
    work.log.warn(told, 'a message could not be sent and is given up');
    return;
  }
  work.log.warn(told, 'a message could not be sent yet');
  await work.queue.add(
    work.em,
    'send_mail',
    { ...task, attempt: task.attempt + 1 },
    // Under this key it stands in line once, also when this task is repeated.
    { delaySeconds: backoffDelay(task.attempt, pauses) / 1000, key: `send_mail:${task.mailId}` },
  );
}

/**
 * What he may do and what he signs in with a user is told even where he wants no mail; whether he still wants to hear
 * of a happening, its letter knows.
 */
async function recipientOf({ em }: Work, { news, userId }: MailTask): Promise<Recipient | null> {
  if (news.kind === 'project_moved') return recipientIn(em, news.projectId, userId);
  return accountHolder(em, userId);
}

async function letterOf(work: Work, { domain }: Mailer, { news, userId }: MailTask): Promise<Letter | null> {
  const sender = { baseUrl: work.baseUrl, domain };
  const host = new URL(work.baseUrl).host;
  if (news.kind === 'new_key') return newKeyLetter(news.title, host);
  if (news.kind === 'new_email') return newEmailLetter(news.email, host);
  if (news.kind === 'happening') {
    return happeningLetter(work, { happening: news.happening, userId }, sender);
  }
  if (news.kind === 'member') return memberLetter(work.em, news, sender);
  return projectMovedLetter(work.em, news, sender);
}
