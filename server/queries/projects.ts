import { accessLevels } from '../../shared/access-level.ts';
import type { ListQuery } from './list-query.ts';
import { memberProjects } from './member-projects.ts';
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

/** Projects that the viewer takes part in. Public ones of other people are not among them. */
export function listOwnProjects(viewer: Viewer, filter: ProjectFilter): ListQuery {
  const values: unknown[] = [viewer.id];
  const conditions = [`p.id in (${memberProjects('$1', accessLevels.guest)})`, 'not p.pending_delete'];
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
