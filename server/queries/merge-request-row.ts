import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { type NoteableRow, noteableColumns, noteableTables } from './noteable.ts';

export type MergeRequestState = 'opened' | 'closed' | 'merged' | 'reopened';
export type MergeStatus = 'unchecked' | 'can_be_merged' | 'cannot_be_merged';

/** A merge request as answers show it, and as actions on it need it. */
export interface MergeRequestRow extends NoteableRow {
  /** Null once that is gone. */
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
  state: MergeRequestState;
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
  upvotes: number;
  downvotes: number;
}

/**
 * Columns of `MergeRequestRow`.
 *
 * @param viewer his id, as SQL.
 */
export function mergeRequestColumns(viewer: string): string {
  return `t.source_project_id, t.source_branch, t.target_branch, t.state, t.milestone_id, t.merge_status,
  t.checked_source_sha, t.checked_target_sha, t.head_sha, t.base_sha, t.merge_when_build_succeeds, t.merge_user_id,
  t.merge_message, t.removes_source_branch, t.merge_commit_sha, t.upvotes, t.downvotes,
  ${noteableColumns('MergeRequest', viewer)}`;
}

/** The tables behind `mergeRequestColumns`. Those that were removed have to be left out. */
export const mergeRequestTables = noteableTables('MergeRequest');

const byId = `select ${mergeRequestColumns('$1')} from ${mergeRequestTables}
  where t.project_id = $2 and t.id = $3 and t.deleted_at is null`;

/** A merge request of this project, as a user sees it; null without. */
export async function findMergeRequest(
  em: EntityManager,
  { viewerId, projectId, id }: { viewerId: number; projectId: number; id: number },
): Promise<MergeRequestRow | null> {
  return sqlOne<MergeRequestRow>(em, byId, [viewerId, projectId, id]);
}
