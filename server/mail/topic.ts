import type { EntityManager } from '@mikro-orm/postgresql';
import type { NoteableType } from '../queries/noteable.ts';
import { findNote, type NoteRow } from '../queries/notes.ts';
import type { Happening } from './happening.ts';

/** What messages are about: those about one thing belong together. */
export type Topic =
  | { type: NoteableType; id: number; note: NoteRow | null }
  | { type: 'Snippet'; id: number; note: NoteRow }
  | { type: 'Commit'; projectId: number; sha: string; note: NoteRow };

/** @returns null for a comment that is gone, and for what nobody is mailed about: notes of the system and votes. */
export async function topicOf(em: EntityManager, happening: Happening): Promise<Topic | null> {
  if (happening.kind !== 'note') return { type: happening.type, id: happening.id, note: null };
  const note = await findNote(em, happening.noteId);
  if (!note || note.system || note.is_award) return null;
  const { noteable_type: type, noteable_id: id, commit_sha: sha, project_id: projectId } = note;
  if (sha !== null) return { type: 'Commit', projectId, sha, note };
  if (id === null) return null;
  return { type: type as NoteableType | 'Snippet', id, note };
}
