import { notFound } from '../errors.ts';
import type { NoteParent, NoteRow } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { noteReferences } from './note-references.ts';
import { type ParentChange, touchParent } from './touch-parent.ts';

interface NoteChange {
  note: Pick<NoteRow, 'id' | 'project_id' | 'system' | 'is_award'>;
  parent: NoteParent;
  userId: number;
  body: string;
}

/**
 * Gives a comment another text. Whom and what that names takes note of it, but nobody is told. What is no comment, but a
 * vote or a note of the system, stays as it is.
 *
 * @param work in a transaction, of which this is the beginning.
 * @throws AppError 404 when the comment, or its thing, is gone.
 */
export async function updateNote(work: Work, { note, parent, userId, body }: NoteChange): Promise<void> {
  if (note.system || note.is_award) return;
  await touchParent(work, parent);
  const text =
    'update notes set body = $2, updated_by_id = $3, updated_at = now() where id = $1 returning author_id';
  const row = await sqlOne<{ author_id: number }>(work.em, text, [note.id, body, userId]);
  if (!row) throw notFound('Note');
  const source = { ...parent, projectId: note.project_id };
  await noteReferences(work, { authorId: userId, source, noteId: note.id, texts: [body] });
}

/**
 * Removes a note for good, with its line of the project's activity. The numbers of its thing follow.
 *
 * @param work in a transaction, of which this is the beginning.
 * @throws AppError 404 when it, or its thing, is gone.
 */
export async function deleteNote(
  work: Work,
  { note, parent }: { note: NoteRow; parent: NoteParent },
): Promise<void> {
  await touchParent(work, parent, lossOf(note));
  const gone = await sqlOne(work.em, 'delete from notes where id = $1 returning id', [note.id]);
  if (!gone) throw notFound('Note');
}

/** What its thing loses with a note. */
function lossOf({ system, upvote, downvote }: NoteRow): ParentChange {
  return { comments: system ? 0 : -1, upvotes: upvote ? -1 : 0, downvotes: downvote ? -1 : 0 };
}
