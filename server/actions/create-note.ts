import { tellPeople } from '../mail/happening.ts';
import { awardName } from '../policy/award.ts';
import { tellOfNotes, wakeHooks } from '../queries/hook-tasks.ts';
import type { NoteParent } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { createAward } from './create-award.ts';
import { noteReferences } from './note-references.ts';
import { recordEvent } from './record-event.ts';
import { touchParent } from './touch-parent.ts';

export interface NewNote {
  projectId: number;
  authorId: number;
  /** What it is about. */
  noteable: { type: 'Commit'; id: null; sha: string } | (NoteParent & { sha: null });
  body: string;
  /** The line of a diff that it is about. */
  place: { path: string; line: number; lineType: 'new' | 'old'; lineCode: string | null } | null;
  /** Now, unless told. */
  createdAt?: Date | undefined;
}

/**
 * Adds what a user says of something, with what follows: the thing counts as changed, whom and what it names takes note
 * of that, and there is a line of the project's activity, and messages to hooks and to people. Of a private snippet only
 * people are told, who are looked at one by one. A comment on an issue or merge request that is the name of a picture and
 * nothing else is a vote, of which nobody is told.
 *
 * @param work in a transaction, of which this is the beginning.
 * @returns its id.
 * @throws AppError 404 when the thing is gone; 400 for a vote that the user gave it before.
 */
export async function createNote(work: Work, note: NewNote): Promise<number> {
  const { projectId, authorId, noteable, body, createdAt } = note;
  const award = noteable.type === 'Issue' || noteable.type === 'MergeRequest' ? awardName(body) : null;
  if (noteable.type !== 'Commit' && award) {
    return createAward(work, { projectId, authorId, noteable, name: award, createdAt });
  }
  const isPrivate =
    noteable.type !== 'Commit' && (await touchParent(work, noteable, { comments: 1 })).isPrivate;
  const noteId = await insertNote(work, note, { isPrivate });
  if (!isPrivate) {
    const target = { targetType: 'Note', targetId: noteId, noteId };
    await recordEvent(work, { projectId, authorId, action: 'commented on', ...target });
  }
  await noteReferences(work, { authorId, source: { ...noteable, projectId }, noteId, texts: [body] });
  await tellPeople(work, { kind: 'note', noteId, by: authorId });
  return noteId;
}

async function insertNote(
  { em }: Work,
  { projectId, authorId, noteable, body, place, createdAt }: NewNote,
  { isPrivate }: { isPrivate: boolean },
): Promise<number> {
  const row = await sqlOne<{ id: number }>(em, insert, [
    ...[projectId, authorId, noteable.type, noteable.id, noteable.sha, body],
    ...[place?.path, place?.line, place?.lineType, place?.lineCode, createdAt, isPrivate],
  ]);
  if (!row) throw new Error('no note was made');
  return row.id;
}

const insert = `
  with made as (
    insert into notes (project_id, author_id, noteable_type, noteable_id, commit_sha, body, path, line, line_type,
      line_code, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11::timestamptz, now())) returning id, project_id
  ), told_of as (select id, project_id from made where not $12::boolean), ${tellOfNotes('told_of')}
  select id, ${wakeHooks} as woken from made`;
