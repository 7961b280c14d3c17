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
export function labelTitles(type: NoteableType): string {
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
export function isSubscribed(type: NoteableType, user: string): string {
  const { column } = noteables[type];
  return `coalesce(
    (select s.subscribed from subscriptions s where s.user_id = ${user} and s.${column} = t.id),
    t.author_id = ${user} or t.assignee_id is not distinct from ${user}
      or exists (select from notes c where c.noteable_id = t.id and c.noteable_type = '${type}'
        and c.author_id = ${user} and not c.system)
      or exists (select from mentions m where m.${column} = t.id and m.user_id = ${user}))`;
}
