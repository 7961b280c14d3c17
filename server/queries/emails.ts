import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

/** A further address of a user. */
export interface EmailRow {
  id: number;
  user_id: number;
  email: string;
  created_at: Date;
  updated_at: Date;
}

/** Of the table `e`. */
export const emailColumns = 'e.id, e.user_id, e.email, e.created_at, e.updated_at';

/** Further addresses of a user, newest first. */
export function listEmails(userId: number): ListQuery {
  return {
    columns: emailColumns,
    from: 'emails e where e.user_id = $1',
    order: 'e.id desc',
    values: [userId],
  };
}

export async function findEmail(
  em: EntityManager,
  userId: number,
  emailId: number,
): Promise<EmailRow | null> {
  return sqlOne<EmailRow>(em, `select ${emailColumns} from emails e where e.id = $2 and e.user_id = $1`, [
    userId,
    emailId,
  ]);
}

/** Whether anybody has this address, as his primary or as a further one. */
export async function isEmailTaken(em: EntityManager, email: string): Promise<boolean> {
  const row = await sqlOne(
    em,
    `select 1 from users where lower(email) = lower($1)
     union all select 1 from emails where lower(email) = lower($1) limit 1`,
    [email],
  );
  return row !== null;
}
