import type { ListQuery } from './list-query.ts';
import { userColumns } from './user-row.ts';

export interface UserFilter {
  /** Part of name, user name or e-mail. */
  search?: string | undefined;
  username?: string | undefined;
  active?: boolean | undefined;
}

/** Users, newest first. */
export function listUsers({ search, username, active }: UserFilter): ListQuery {
  const conditions = ['true'];
  const values: unknown[] = [];
  if (search !== undefined) {
    values.push(`%${escapeLike(search)}%`);
    const n = `$${values.length}`;
    conditions.push(`(u.name ilike ${n} or u.username ilike ${n} or u.email ilike ${n})`);
  }
  if (username !== undefined) {
    values.push(username);
    conditions.push(`u.username = $${values.length}`);
  }
  if (active) conditions.push(`u.state = 'active'`);
  return {
    columns: userColumns,
    from: `users u where ${conditions.join(' and ')}`,
    order: 'u.id desc',
    values,
  };
}

/** A text that stands for itself inside a `like` pattern. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
