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
  /** Of a comment that is told of. */
  note: EventNote | null;
  created_at: Date;
}

/** A comment in JSON of the database. */
export interface EventNote {
  id: number;
  body: string;
  system: boolean;
  noteable_id: number | null;
  noteable_type: string;
  created_at: string;
  author: UserSummaryRow;
}

const noteJson = `case when c.id is not null then json_build_object('id', c.id, 'body', c.body, 'system', c.system,
  'noteable_id', c.noteable_id, 'noteable_type', c.noteable_type, 'created_at', c.created_at,
  'author', (select ${summaryJson} from users u where u.id = c.author_id)) end`;

/** Newest first. */
export function listProjectEvents(projectId: number): ListQuery {
  return {
    columns: `e.id, e.project_id, e.action, e.target_type, e.target_id, e.target_title, u.id as author_id, e.data,
      e.created_at, ${summaryJson} as author, ${noteJson} as note`,
    from: 'events e left join users u on u.id = e.author_id left join notes c on c.id = e.note_id',
    order: 'e.id desc',
    values: [projectId],
    countFrom: 'events e where e.project_id = $1',
    index: { key: 'e.id', from: 'events e where e.project_id = $1', backwards: 'e.id asc' },
  };
}
