import { accessLevels, visibilityLevels } from '../../shared/access-level.ts';
import type { ListQuery } from './list-query.ts';
import { memberProjects, namespaceProjects } from './member-projects.ts';
import { projectColumnsFor, projectTablesFor } from './project-row.ts';
import { hasPart, partOf } from './text-search.ts';
import type { Viewer } from './viewer.ts';

export const projectOrders = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const;
type ProjectOrder = (typeof projectOrders)[number];

export interface ProjectFilter {
  archived?: boolean | undefined;
  visibility?: keyof typeof visibilityLevels | undefined;
  /** Part of path, name or description, or of the name of the namespace. */
  search?: string | undefined;
  order_by?: ProjectOrder | undefined;
  sort?: 'asc' | 'desc' | undefined;
}

type AsViewer = Pick<Viewer, 'id' | 'is_admin' | 'external'>;

/** Projects that the viewer takes part in. Public ones of other people are not among them. */
export function listOwnProjects(viewer: AsViewer, filter: ProjectFilter): ListQuery {
  const list = new ProjectList();
  list.only(memberProjects(list.value(viewer.id), accessLevels.guest));
  return list.filter(filter).query(viewer, filter);
}

/** Projects in the viewer's own namespace, and of groups that he owns. */
export function listOwnedProjects(viewer: AsViewer, filter: ProjectFilter): ListQuery {
  const list = new ProjectList();
  list.only(namespaceProjects(list.value(viewer.id), accessLevels.owner));
  return list.filter(filter).query(viewer, filter);
}

/** Projects that the viewer has starred and can still see. */
export function listStarredProjects(viewer: AsViewer, filter: ProjectFilter): ListQuery {
  const list = new ProjectList();
  list.only(`select project_id from stars where user_id = ${list.value(viewer.id)}`);
  return list.visibleTo(viewer).filter(filter).query(viewer, filter);
}

/** Projects of one group that the viewer can see. */
export function listGroupProjects(viewer: AsViewer, groupId: number, filter: ProjectFilter): ListQuery {
  const list = new ProjectList();
  list.only(`select id from projects where namespace_id = ${list.value(groupId)} and not pending_delete`);
  return list.visibleTo(viewer).filter(filter).query(viewer, filter);
}

/** Every project. */
export function listAllProjects(viewer: AsViewer, filter: ProjectFilter): ListQuery {
  const { search, ...plain } = filter;
  const list = new ProjectList().filter(plain);
  if (search !== undefined) return list.matching(search).query(viewer, filter);
  return { ...list.query(viewer, filter), ...countAll(plain) };
}

/** Projects with this part in their names, of those that the viewer takes part in and those that anybody may see. */
export function searchProjects(
  viewer: AsViewer,
  name: string,
  order: Pick<ProjectFilter, 'order_by' | 'sort'>,
): ListQuery {
  const list = new ProjectList();
  // As a query of its own: with the text before it the database would make a plan anew for each search, which takes
  // longer than the search.
  const part = `(select ${list.value(partOf(name))}::text)`;
  list.only(`select id from projects where ${hasPart(['name'], part, name)}`);
  const { order_by = 'id', sort = 'asc' } = order;
  return list.visibleTo({ ...viewer, is_admin: false }).query(viewer, { order_by, sort });
}

/** The conditions of a list of projects `p`, with the values in them. */
class ProjectList {
  readonly #values: unknown[] = [];
  readonly #conditions = ['not p.pending_delete'];

  /** @returns the parameter that stands for the value. */
  value(value: unknown): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  /**
   * Only projects with these ids, which are looked for before any order is: a plan that is made once for all viewers
   * would rather go through all projects in that order.
   */
  only(ids: string): this {
    return this.where(`p.id = any(array(${ids}))`);
  }

  where(condition: string): this {
    this.#conditions.push(condition);
    return this;
  }

  visibleTo(viewer: AsViewer): this {
    if (viewer.is_admin) return this;
    const open = viewer.external
      ? `p.visibility_level = ${visibilityLevels.public}`
      : `p.visibility_level >= ${visibilityLevels.internal}`;
    return this.where(`(${open} or p.id in (${memberProjects(this.value(viewer.id), accessLevels.guest)}))`);
  }

  filter({ archived, visibility, search }: ProjectFilter): this {
    if (archived !== undefined) this.where(`p.archived = ${this.value(archived)}`);
    if (visibility) this.where(`p.visibility_level = ${this.value(visibilityLevels[visibility])}`);
    if (search === undefined) return this;
    const part = this.value(partOf(search));
    return this.where(
      `(${hasPart(searched('p'), part, search)} or p.namespace_id in (select id from namespaces where name ilike ${part}))`,
    );
  }

  /** As the filter `search`, for lists of very many: what matches comes from indexes. */
  matching(search: string): this {
    const part = this.value(partOf(search));
    return this.only(
      `select m1.id from projects m1 where ${hasPart(searched('m1'), part, search)}
        union select m2.id from projects m2 join namespaces n2 on n2.id = m2.namespace_id where n2.name ilike ${part}`,
    );
  }

  query(viewer: AsViewer, { order_by = 'created_at', sort = 'desc' }: ProjectFilter): ListQuery {
    const from = `projects p where ${this.#conditions.join(' and ')}`;
    const countValues = [...this.#values];
    const seenBy = this.value(viewer.id);
    return {
      columns: projectColumnsFor(seenBy),
      from: projectTablesFor(seenBy),
      order: orderOf(order_by, sort),
      values: this.#values,
      countFrom: from,
      countValues,
      index: { key: 'p.id', from, backwards: orderOf(order_by, sort === 'asc' ? 'desc' : 'asc') },
    };
  }
}

function orderOf(column: ProjectOrder, direction: 'asc' | 'desc'): string {
  return column === 'id' ? `p.id ${direction}` : `p.${column} ${direction}, p.id ${direction}`;
}

function searched(project: string): string[] {
  return ['path', 'name', 'description'].map((column) => `${project}.${column}`);
}

/** The number of all projects, or of all with these attributes, from what the database keeps of it. */
function countAll({ archived, visibility }: ProjectFilter): Partial<ListQuery> {
  const conditions = ['true'];
  const countValues: unknown[] = [];
  if (archived !== undefined) conditions.push(`t.archived = $${countValues.push(archived)}`);
  if (visibility) {
    conditions.push(`t.visibility_level = $${countValues.push(visibilityLevels[visibility])}`);
  }
  return {
    countAs: 'coalesce(sum(t.change), 0)',
    countFrom: `project_counts t where ${conditions.join(' and ')}`,
    countValues,
  };
}
