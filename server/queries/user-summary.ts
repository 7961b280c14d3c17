import { avatarOf } from './avatar.ts';

/** What answers show of a user beside something else. */
export interface UserSummaryRow {
  id: number;
  username: string;
  name: string;
  state: string;
  email: string;
  /** Address of a picture. */
  avatar: string | null;
}

/** One column that holds a `UserSummaryRow` from the table `u`; null without a row. */
export const summaryJson = `case when u.id is not null then json_build_object('id', u.id, 'username', u.username,
  'name', u.name, 'state', u.state, 'email', u.email, 'avatar', ${avatarOf('u')}) end`;

/** The same for the user of an id, which is SQL. */
export function summaryOf(id: string): string {
  return `(select ${summaryJson} from users u where u.id = ${id})`;
}
