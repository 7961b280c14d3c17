import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { type MilestoneRow, milestoneJson } from './milestone-row.ts';
import { isSubscribed, labelTitles } from './noteable.ts';
import { summaryOf, type UserSummaryRow } from './user-summary.ts';

export type MergeRequestState = 'opened' | 'closed' | 'merged' | 'reopened';
export type MergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged';

/** A merge request as answers show it, and as actions on it need it. */
export interface MergeRequestRow {
  id: number;
  /** Of the project that it goes to. */
  project_id: number;
  iid: number;
  /** Null once that is gone. */
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
  title: string;
  description: string | null;
  state: MergeRequestState;
  author_id: number;
  assignee_id: number | null;
  milestone_id: number | null;
  merge_status: MergeStatus;
  /** The two commits that the status is about. */
  checked_source_sha: string | null;
  checked_target_sha: string | null;
  head_sha: string | null;
  base_sha: string | null;
  merge_when_build_succeeds: boolean;
  merge_user_id: number | null;
  merge_message: string | null;
  removes_source_branch: boolean;
  merge_commit_sha: string | null;
  user_notes_count: number;
  upvotes: number;
  downvotes: number;
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
 * Columns of `MergeRequestRow`.
 *
 * @param viewer his id, as SQL.
 */
export function mergeRequestColumns(viewer: string): string {
  return `t.id, t.project_id, t.iid, t.source_project_id, t.source_branch, t.target_branch, t.title, t.description,
  t.state, t.author_id, t.assignee_id, t.milestone_id, t.merge_status, t.checked_source_sha, t.checked_target_sha,
  t.head_sha, t.base_sha, t.merge_when_build_succeeds, t.merge_user_id, t.merge_message, t.removes_source_branch,
  t.merge_commit_sha, t.user_notes_count, t.upvotes, t.downvotes, t.created_at, t.updated_at,
  ${labelTitles('MergeRequest')} as labels, ${summaryOf('t.author_id')} as author,
  ${summaryOf('t.assignee_id')} as assignee, ${milestoneJson} as milestone,
  ${isSubscribed('MergeRequest', viewer)} as subscribed`;
}

/** The tables behind `mergeRequestColumns`. Those that were removed have to be left out. */
export const mergeRequestTables = 'merge_requests t left join milestones ms on ms.id = t.milestone_id';

const byId = `select ${mergeRequestColumns('$1')} from ${mergeRequestTables}
  where t.project_id = $2 and t.id = $3 and t.deleted_at is null`;

/** A merge request of this project, as a user sees it; null without. */
export async function findMergeRequest(
  em: EntityManager,
  { viewerId, projectId, id }: { viewerId: number; projectId: number; id: number },
): Promise<MergeRequestRow | null> {
  return sqlOne<MergeRequestRow>(em, byId, [viewerId, projectId, id]);
}
