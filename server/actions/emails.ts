import { invalid } from '../errors.ts';
import { mailNewEmail } from '../mail/queue-mail.ts';
import { emailFaults, normalEmail } from '../policy/user-names.ts';
import { type EmailRow, emailColumns, isEmailTaken } from '../queries/emails.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { takeTurns } from './take-turns.ts';

/** Whoever gives somebody an address waits for others who are giving away the same one. */
export function emailTurn(email: string): string {
  return `e-mail ${email}`;
}

/**
 * Gives a user a further address, and tells him so by mail.
 *
 * @throws AppError 400 for what is no address, or one that somebody has.
 */
export async function addEmail(work: Work, userId: number, given: string): Promise<EmailRow> {
  const email = normalEmail(given);
  const faults = emailFaults(email);
  if (faults.length > 0) throw invalid({ email: faults });
  await takeTurns(work, [emailTurn(email)]);
  if (await isEmailTaken(work.em, email)) throw invalid({ email: ['has already been taken'] });
  const [row] = await sql<EmailRow>(
    work.em,
    `insert into emails as e (user_id, email) values ($1, $2) returning ${emailColumns}`,
    [userId, email],
  );
  if (!row) throw new Error('no address was added');
  await mailNewEmail(work, userId, email);
  return row;
}

/** @returns the address that was, or null when the user has none with this id. */
export async function removeEmail({ em }: Work, userId: number, emailId: number): Promise<EmailRow | null> {
  const row = await sqlOne<EmailRow>(
    em,
    `delete from emails e where e.id = $2 and e.user_id = $1 returning ${emailColumns}`,
    [userId, emailId],
  );
  if (row) await forgetNotificationEmail({ em }, userId, row.email);
  return row;
}

/** Mail goes to the primary address from now on, if it went to this one. */
export async function forgetNotificationEmail(
  { em }: Pick<Work, 'em'>,
  userId: number,
  email: string,
): Promise<void> {
  await sql(
    em,
    'update users set notification_email = null where id = $1 and lower(notification_email) = lower($2)',
    [userId, email],
  );
}
