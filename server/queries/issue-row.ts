import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { type NoteableRow, noteableColumns, noteableTables } from './noteable.ts';

/** An issue as answers show it, and as actions on it need it. */
export interface IssueRow extends NoteableRow {
  state: 'opened' | 'closed';
}

/**
 * Columns of `IssueRow`.
 *
 * @param viewer his id, as SQL.
 */
export function issueColumns(viewer: string): string {
  return `t.state, ${noteableColumns('Issue', viewer)}`;
}

/** The tables behind `issueColumns`. Those that were removed have to be left out. */
export const issueTables = noteableTables('Issue');

const byId = `select ${issueColumns('$1')} from ${issueTables}
  where t.project_id = $2 and t.id = $3 and t.deleted_at is null`;

/** An issue of this project, as a user sees it; null without. */
export async function findIssue(
  em: EntityManager,
  { viewerId, projectId, id }: { viewerId: number; projectId: number; id: number },
): Promise<IssueRow | null> {
  return sqlOne<IssueRow>(em, byId, [viewerId, projectId, id]);
}
