import type { ListQuery } from './list-query.ts';
import { projectColumns, projectTables } from './project-row.ts';
import { escapeLike } from './users.ts';
import type { Viewer } from './viewer.ts';

export const projectOrders = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const;

export interface ProjectFilter {
  archived?: boolean | undefined;
  visibility?: 'private' | 'internal' | 'public' | undefined;
  search?: string | undefined;
  order_by?: (typeof projectOrders)[number] | undefined;
  sort?: 'asc' | 'desc' | undefined;
}

const levels = { private: 0, internal: 10, public: 20 };

/** Ids of the projects that `$1` takes part in: as owner, member, member of the group, or through a share. */
const ownProjects = `
  select p1.id from projects p1 join namespaces n1 on n1.id = p1.namespace_id where n1.owner_id = $1
  union select project_id from project_members where user_id = $1
  union select p2.id from projects p2 join group_members m2 on m2.group_id = p2.namespace_id where m2.user_id = $1
  union select s3.project_id from project_shares s3
    join group_members m3 on m3.group_id = s3.group_id and m3.user_id = $1
    join projects p3 on p3.id = s3.project_id
    join namespaces n3 on n3.id = p3.namespace_id and not n3.share_with_group_lock`;

/** Projects that the viewer takes part in. Public ones of other people are not among them. */
export function listOwnProjects(viewer: Viewer, filter: ProjectFilter): ListQuery {
  const values: unknown[] = [viewer.id];
  const conditions = [`p.id in (${ownProjects})`, 'not p.pending_delete'];
  const add = (make: (n: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(make(`$${values.length}`));
  };
  if (filter.archived !== undefined) add((n) => `p.archived = ${n}`, filter.archived);
  if (filter.visibility) add((n) => `p.visibility_level = ${n}`, levels[filter.visibility]);
  if (filter.search !== undefined) add(matches, `%${escapeLike(filter.search)}%`);
  const direction = filter.sort ?? 'desc';
  const order = filter.order_by ?? 'created_at';
  return {
    columns: projectColumns,
    from: `${projectTables} where ${conditions.join(' and ')}`,
    order: order === 'id' ? `p.id ${direction}` : `p.${order} ${direction}, p.id ${direction}`,
    values,
    countFrom: `projects p join namespaces n on n.id = p.namespace_id where ${conditions.join(' and ')}`,
  };
}

function matches(n: string): string {
  return `(p.path ilike ${n} or p.name ilike ${n} or p.description ilike ${n} or n.name ilike ${n})`;
}
