import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { type MilestoneRow, milestoneJson } from './milestone-row.ts';
import { isSubscribed, labelTitles } from './noteable.ts';
import { summaryOf, type UserSummaryRow } from './user-summary.ts';

/** An issue as answers show it, and as actions on it need it. */
export interface IssueRow {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  author_id: number;
  assignee_id: number | null;
  user_notes_count: number;
  created_at: Date;
  updated_at: Date;
  /** Titles, in their order. */
  labels: string[];
  author: UserSummaryRow;
  assignee: UserSummaryRow | null;
  milestone: MilestoneRow | null;
  /** Whether the viewer hears of it. */
  subscribed: boolean;
}

/**
 * Columns of `IssueRow`.
 *
 * @param viewer his id, as SQL.
 */
export function issueColumns(viewer: string): string {
  return `t.id, t.iid, t.project_id, t.title, t.description, t.state, t.author_id, t.assignee_id, t.user_notes_count,
  t.created_at, t.updated_at, ${labelTitles('Issue')} as labels, ${summaryOf('t.author_id')} as author,
  ${summaryOf('t.assignee_id')} as assignee, ${milestoneJson} as milestone, ${isSubscribed('Issue', viewer)} as subscribed`;
}

/** The tables behind `issueColumns`. Those that were removed have to be left out. */
export const issueTables = 'issues t left join milestones ms on ms.id = t.milestone_id';

const byId = `select ${issueColumns('$1')} from ${issueTables}
  where t.project_id = $2 and t.id = $3 and t.deleted_at is null`;

/** An issue of this project, as a user sees it; null without. */
export async function findIssue(
  em: EntityManager,
  { viewerId, projectId, id }: { viewerId: number; projectId: number; id: number },
): Promise<IssueRow | null> {
  return sqlOne<IssueRow>(em, byId, [viewerId, projectId, id]);
}
