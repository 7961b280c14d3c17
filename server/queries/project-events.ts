import type { ListQuery } from './list-query.ts';
import { summaryJson, type UserSummaryRow } from './user-summary.ts';

/** A line of a project's activity. */
export interface ProjectEventRow {
  id: number;
  project_id: number;
  action: string;
  target_type: string | null;
  target_id: number | null;
  target_title: string | null;
  /** Both null once he is removed. */
  author_id: number | null;
  author: UserSummaryRow | null;
  /** Of a push; null for all else. */
  data: unknown;
  created_at: Date;
}

/** Newest first. */
export function listProjectEvents(projectId: number): ListQuery {
  return {
    columns: `e.id, e.project_id, e.action, e.target_type, e.target_id, e.target_title, u.id as author_id, e.data,
      e.created_at, ${summaryJson} as author`,
    from: 'events e left join users u on u.id = e.author_id',
    order: 'e.id desc',
    values: [projectId],
    countFrom: 'events e where e.project_id = $1',
    index: { key: 'e.id', from: 'events e where e.project_id = $1', backwards: 'e.id asc' },
  };
}
