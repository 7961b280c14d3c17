import { type NoteableType, noteables } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/**
 * Removes what a user wrote: his issues, merge requests and snippets with all that was said of them and is kept with them,
 * and what he said of others, whose numbers follow. Nobody has to do anything through him any more, and nobody names him.
 * A fixed number of statements, which lock in the order in which everybody does, and keep the rows of the projects that
 * know of him for what comes after.
 *
 * @param work in a transaction.
 */
export async function removeWritings({ em }: Work, userId: number): Promise<void> {
  for (const statement of statements) await sql(em, statement, [userId]);
}

/** All that changes when he goes: what he wrote, what he has to do, what he said something of, and what names him. */
function lockNoteables(type: NoteableType): string {
  const { table, column } = noteables[type];
  return `select 1 from ${table} where id in (
      select id from ${table} where author_id = $1
      union select id from ${table} where assignee_id = $1
      union select noteable_id from notes where author_id = $1 and noteable_type = '${type}'
      union select ${column} from mentions where user_id = $1 and ${column} is not null)
    order by id for no key update`;
}

const lockSnippets = `
  select 1 from snippets where id in (
    select id from snippets where author_id = $1
    union select noteable_id from notes where author_id = $1 and noteable_type = 'Snippet')
  order by id for no key update`;

/** They count open issues and stars, and say who made them. */
const lockProjects = `
  select 1 from projects where id in (
    select project_id from issues where author_id = $1
    union select project_id from stars where user_id = $1
    union select id from projects where creator_id = $1)
  order by id for no key update`;

const removeNotes = `
  with gone as (
    delete from notes where author_id = $1 returning noteable_type, noteable_id, system, is_award, body
  ), counted as (
    select noteable_type, noteable_id, count(*) filter (where not system) as comments,
      count(*) filter (where is_award and body = 'thumbsup') as upvotes,
      count(*) filter (where is_award and body = 'thumbsdown') as downvotes
    from gone group by noteable_type, noteable_id
  ), issues_counted as (
    update issues t set user_notes_count = t.user_notes_count - c.comments
    from counted c where c.noteable_type = 'Issue' and t.id = c.noteable_id and c.comments > 0
  )
  update merge_requests t set user_notes_count = t.user_notes_count - c.comments, upvotes = t.upvotes - c.upvotes,
    downvotes = t.downvotes - c.downvotes
  from counted c where c.noteable_type = 'MergeRequest' and t.id = c.noteable_id`;

/** With all that names them by their ids alone: notes of them, notes of where they name others, and activity. */
function removeThings(table: string, type: string): string {
  return `
    with gone as (
      delete from ${table} where author_id = $1 returning id, project_id
    ), notes_gone as (
      delete from notes n using gone g where n.noteable_type = '${type}' and n.noteable_id = g.id
    ), references_gone as (
      delete from notes n using gone g
      where n.reference_project_id = g.project_id and n.reference_type = '${type}' and n.reference_id = g.id
    )
    delete from events e using gone g where e.target_type = '${type}' and e.target_id = g.id`;
}

const statements = [
  lockNoteables('Issue'),
  lockNoteables('MergeRequest'),
  lockSnippets,
  lockProjects,
  removeNotes,
  removeThings('issues', 'Issue'),
  removeThings('merge_requests', 'MergeRequest'),
  removeThings('snippets', 'Snippet'),
  'update issues set assignee_id = null where assignee_id = $1',
  'update merge_requests set assignee_id = null where assignee_id = $1',
  'delete from mentions where user_id = $1',
];
