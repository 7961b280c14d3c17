import { presentTime } from '../present/timestamp.ts';
import { presentUserSummary } from '../present/user.ts';
import { findNote } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { findHookProject, projectBlock, repositoryBlock } from './blocks.ts';
import { findNoteSubject } from './note-subject.ts';

/** The message of a comment. @returns null when it, its project or what it is about is gone. */
export async function noteMessage(work: Work, noteId: number): Promise<Record<string, unknown> | null> {
  const note = await findNote(work.em, noteId);
  const project = note && (await findHookProject(work, note.project_id));
  const subject = project && (await findNoteSubject(work, note, project));
  if (!subject) return null;
  const { name, username, avatar_url } = presentUserSummary(note.author, work.origin);
  return {
    object_kind: 'note',
    user: { name, username, avatar_url },
    project_id: project.id,
    project: projectBlock(work, project),
    object_attributes: {
      id: note.id,
      note: note.body,
      noteable_type: note.noteable_type,
      author_id: note.author.id,
      created_at: presentTime(note.created_at),
      updated_at: presentTime(note.updated_at),
      project_id: project.id,
      attachment: null,
      line_code: note.line_code,
      commit_id: note.commit_sha,
      noteable_id: note.noteable_id,
      system: note.system,
      st_diff: subject.diff,
      updated_by_id: note.updated_by_id,
      is_award: note.is_award,
      type: note.line_code === null ? null : 'DiffNote',
      url: `${work.origin}/${project.full_path}/${subject.path}#note_${note.id}`,
    },
    repository: repositoryBlock(work, project),
    ...subject.block,
  };
}
