import { tellOfNotes, wakeHooks } from '../queries/hook-tasks.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { recordEvent } from './record-event.ts';

export interface NewNote {
  projectId: number;
  authorId: number;
  /** What it is about. */
  noteable:
    | { type: 'Commit'; id: null; sha: string }
    | { type: 'Issue' | 'MergeRequest' | 'Snippet'; id: number; sha: null };
  body: string;
  /** The line of a diff that it is about. */
  place: { path: string; line: number; lineType: 'new' | 'old'; lineCode: string | null } | null;
}

/**
 * Adds what a user says of something, with what follows: a line of the project's activity, and messages to hooks.
 *
 * @returns its id.
 */
export async function createNote(work: Work, note: NewNote): Promise<number> {
  const { projectId, authorId, noteable, body, place } = note;
  const row = await sqlOne<{ id: number }>(work.em, insert, [
    ...[projectId, authorId, noteable.type, noteable.id, noteable.sha, body],
    ...[place?.path, place?.line, place?.lineType, place?.lineCode],
  ]);
  if (!row) throw new Error('no note was made');
  const target = { targetType: 'Note', targetId: row.id, noteId: row.id };
  await recordEvent(work, { projectId, authorId, action: 'commented on', ...target });
  return row.id;
}

const insert = `
  with made as (
    insert into notes (project_id, author_id, noteable_type, noteable_id, commit_sha, body, path, line, line_type,
      line_code)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id, project_id
  ), ${tellOfNotes('made')}
  select id, ${wakeHooks} as woken from made`;
