import { accessLevels, visibilityLevels } from '../../shared/access-level.ts';
import { issueColumns, issueTables } from './issue-row.ts';
import type { ListQuery } from './list-query.ts';
import { memberProjects } from './member-projects.ts';
import type { Viewer } from './viewer.ts';

export const issueOrders = ['created_at', 'updated_at'] as const;

export interface IssueFilter {
  state?: 'opened' | 'closed' | undefined;
  /** Titles, of which an issue has one or more; with none here all issues are meant. */
  labels?: readonly string[] | undefined;
  order_by?: (typeof issueOrders)[number] | undefined;
  sort?: 'asc' | 'desc' | undefined;
}

export interface ProjectIssueFilter extends IssueFilter {
  iid?: number | undefined;
  /** Title of the milestone. */
  milestone?: string | undefined;
}

type AsViewer = Pick<Viewer, 'id' | 'is_admin' | 'external'>;

/** Issues of a project, newest first unless told. */
export function listProjectIssues(
  viewer: Pick<Viewer, 'id'>,
  projectId: number,
  filter: ProjectIssueFilter,
): ListQuery {
  const list = new IssueList();
  const project = list.value(projectId);
  list.where(`t.project_id = ${project}`);
  if (filter.iid !== undefined) list.where(`t.iid = ${list.value(filter.iid)}`);
  if (filter.milestone !== undefined) {
    const title = list.value(filter.milestone);
    list.where(
      `t.milestone_id = (select m.id from milestones m where m.project_id = ${project} and m.title = ${title})`,
    );
  }
  if (filter.labels && filter.labels.length > 0) {
    list.where(`t.id in (select tl.issue_id from issue_labels tl join labels l on l.id = tl.label_id
      where l.project_id = ${project} and l.title = any(${list.value(filter.labels)}::text[]))`);
  }
  return list.query(viewer, filter);
}

/** Issues of a milestone, open and closed ones, newest first. */
export function listMilestoneIssues(viewer: Pick<Viewer, 'id'>, milestoneId: number): ListQuery {
  const list = new IssueList();
  list.where(`t.milestone_id = ${list.value(milestoneId)}`);
  return list.query(viewer, {});
}

/** Issues that the viewer wrote, in all projects whose issues he can see. */
export function listAuthoredIssues(viewer: AsViewer, filter: IssueFilter): ListQuery {
  const list = new IssueList();
  const user = list.value(viewer.id);
  list.where(`t.author_id = ${user}`);
  // As a value and not as a join: his issues come first, whatever the database thinks of the number of projects.
  list.where(`(select p.issues_enabled and not p.pending_delete and ${visibleTo(viewer, user)}
    from projects p where p.id = t.project_id)`);
  if (filter.labels && filter.labels.length > 0) {
    list.where(`exists (select from issue_labels tl join labels l on l.id = tl.label_id
      where tl.issue_id = t.id and l.title = any(${list.value(filter.labels)}::text[]))`);
  }
  return list.query(viewer, filter);
}

/** Whether a project `p` is. */
function visibleTo(viewer: AsViewer, user: string): string {
  if (viewer.is_admin) return 'true';
  const open = viewer.external ? visibilityLevels.public : visibilityLevels.internal;
  return `(p.visibility_level >= ${open} or p.id in (${memberProjects(user, accessLevels.guest)}))`;
}

/** The conditions of a list of issues `t`, with the values in them. */
class IssueList {
  readonly #values: unknown[] = [];
  readonly #conditions = ['t.deleted_at is null'];

  /** @returns the parameter that stands for the value. */
  value(value: unknown): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  where(condition: string): void {
    this.#conditions.push(condition);
  }

  query(
    viewer: Pick<Viewer, 'id'>,
    { state, order_by = 'created_at', sort = 'desc' }: IssueFilter,
  ): ListQuery {
    if (state) this.where(`t.state = ${this.value(state)}`);
    const from = `issues t where ${this.#conditions.join(' and ')}`;
    const countValues = [...this.#values];
    const back = sort === 'asc' ? 'desc' : 'asc';
    return {
      columns: issueColumns(this.value(viewer.id)),
      from: issueTables,
      order: `t.${order_by} ${sort}, t.id ${sort}`,
      values: this.#values,
      countFrom: from,
      countValues,
      index: { key: 't.id', from, backwards: `t.${order_by} ${back}, t.id ${back}` },
    };
  }
}
