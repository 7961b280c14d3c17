import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

/** A label with how much has it. */
export interface LabelRow {
  id: number;
  title: string;
  /** `#` and six hex digits. */
  color: string;
  description: string | null;
  open_issues: number;
  closed_issues: number;
  open_merge_requests: number;
}

const columns = `l.id, l.title, l.color, l.description, i.open_issues, i.closed_issues, m.open_merge_requests`;
const tables = `labels l
  cross join lateral (
    select count(*) filter (where i.state = 'opened')::int as open_issues,
      count(*) filter (where i.state = 'closed')::int as closed_issues
    from issue_labels il join issues i on i.id = il.issue_id where il.label_id = l.id and i.deleted_at is null
  ) i
  cross join lateral (
    select count(*)::int as open_merge_requests
    from merge_request_labels ml join merge_requests m on m.id = ml.merge_request_id
    where ml.label_id = l.id and m.state in ('opened', 'reopened') and m.deleted_at is null
  ) m`;

/** Labels of a project by title. */
export function listLabels(projectId: number): ListQuery {
  const from = 'labels l where l.project_id = $1';
  return {
    columns,
    from: tables,
    order: 'l.title, l.id',
    values: [projectId],
    countFrom: from,
    // What has a label is counted for those of the page alone.
    index: { key: 'l.id', from, backwards: 'l.title desc, l.id desc' },
  };
}

/** A label of a project by its id, or else by its title, and whether the user wants to hear of what gets it. */
export async function findLabel(
  em: EntityManager,
  { projectId, id, title, userId }: { projectId: number; id: number | null; title: string; userId: number },
): Promise<(LabelRow & { subscribed: boolean }) | null> {
  return sqlOne(
    em,
    `select ${columns}, coalesce(s.subscribed, false) as subscribed
     from ${tables} left join subscriptions s on s.label_id = l.id and s.user_id = $4
     where l.project_id = $1 and (l.id = $2 or l.title = $3) order by l.id is distinct from $2 limit 1`,
    [projectId, id, title, userId],
  );
}

/** A label as it is stored. */
export interface StoredLabelRow {
  id: number;
  project_id: number;
  title: string;
  color: string;
  description: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Of the table `l`. */
export const storedLabelColumns = `l.id, l.project_id, l.title, l.color, l.description, l.created_at, l.updated_at`;
