import type { ListQuery } from './list-query.ts';
import { hasPart, partOf } from './text-search.ts';
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
    const matches = hasPart(['name', 'username', 'email'], `$${values.push(partOf(search))}`, search);
    // What is prepared once for all texts would rather go through all users in the order of the list.
    conditions.push(`u.id = any(array(select id from users where ${matches}))`);
  }
  if (username !== undefined) {
    values.push(username);
    const n = `$${values.length}`;
    conditions.push(`lower(u.username) = lower(${n}) and u.username = ${n}`);
  }
  if (active) conditions.push(`u.state = 'active'`);
  const from = `users u where ${conditions.join(' and ')}`;
  return {
    columns: userColumns,
    from: 'users u',
    order: 'u.id desc',
    values,
    countFrom: from,
    index: { key: 'u.id', from, backwards: 'u.id asc' },
  };
}
