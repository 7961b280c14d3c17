import { type MilestoneRow, milestoneJson } from './milestone-row.ts';
import { summaryOf, type UserSummaryRow } from './user-summary.ts';

/** What people talk about in a project, is given to somebody, and has labels and a milestone. */
export type NoteableType = 'Issue' | 'MergeRequest';

interface Noteable {
  table: string;
  /** How other tables name its id. */
  column: string;
  /** Which of its labels it has. */
  labels: string;
}

export const noteables: Record<NoteableType, Noteable> = {
  Issue: { table: 'issues', column: 'issue_id', labels: 'issue_labels' },
  MergeRequest: { table: 'merge_requests', column: 'merge_request_id', labels: 'merge_request_labels' },
};

/** Column with the titles of the labels of `t`, in their order. */
function labelTitles(type: NoteableType): string {
  const { column, labels } = noteables[type];
  return `array(select l.title from ${labels} tl join labels l on l.id = tl.label_id
    where tl.${column} = t.id order by l.title)`;
}

/**
 * Column that says whether a user hears of `t`: what he chose, else whether he takes part as author or assignee, by a
 * comment, or because somebody named him.
 *
 * @param user his id, as SQL.
 */
function isSubscribed(type: NoteableType, user: string): string {
  const { column } = noteables[type];
  return `coalesce(
    (select s.subscribed from subscriptions s where s.user_id = ${user} and s.${column} = t.id),
    t.author_id = ${user} or t.assignee_id is not distinct from ${user}
      or exists (select from notes c where c.noteable_id = t.id and c.noteable_type = '${type}'
        and c.author_id = ${user} and not c.system)
      or exists (select from mentions m where m.${column} = t.id and m.user_id = ${user}))`;
}

/** What answers show of an issue as of a merge request. */
export interface NoteableRow {
  id: number;
  /** Of the project that shows it. */
  project_id: number;
  iid: number;
  title: string;
  description: string | null;
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
 * Columns of `NoteableRow`, from `noteableTables`.
 *
 * @param viewer his id, as SQL.
 */
export function noteableColumns(type: NoteableType, viewer: string): string {
  return `t.id, t.project_id, t.iid, t.title, t.description, t.author_id, t.assignee_id, t.user_notes_count,
  t.created_at, t.updated_at, ${labelTitles(type)} as labels, ${summaryOf('t.author_id')} as author,
  ${summaryOf('t.assignee_id')} as assignee, ${milestoneJson} as milestone,
  ${isSubscribed(type, viewer)} as subscribed`;
}

/** What whoever changes an issue or a merge request has to know of it. */
export interface HeldNoteable {
  id: number;
  project_id: number;
  iid: number;
  title: string;
  description: string | null;
  assignee: { id: number; username: string } | null;
  milestone: { id: number; iid: number } | null;
}

/**
 * Statement that waits for whoever changes the row `$1` and gives it, to be changed by nobody else until the transaction
 * ends; no row when it is gone. What is joined has to be that of the row that was waited for, so the row comes first.
 *
 * @param own columns besides those of `HeldNoteable`.
 */
export function holdStatement(type: NoteableType, own: readonly string[]): string {
  return `
  with held as materialized (
    select * from ${noteables[type].table} where id = $1 and deleted_at is null for no key update
  )
  select t.id, t.project_id, t.iid, t.title, t.description, ${own.map((column) => `t.${column}`).join(', ')},
    case when u.id is not null then json_build_object('id', u.id, 'username', u.username) end as assignee,
    case when m.id is not null then json_build_object('id', m.id, 'iid', m.iid) end as milestone
  from held t left join users u on u.id = t.assignee_id left join milestones m on m.id = t.milestone_id`;
}

/** Those that were removed have to be left out. */
export function noteableTables(type: NoteableType): string {
  return `${noteables[type].table} t left join milestones ms on ms.id = t.milestone_id`;
}
