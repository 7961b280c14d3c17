import { findCommentedLine } from '../git/commented-line.ts';
import type { Commit } from '../git/commit.ts';
import { readKnownCommit } from '../git/read-commits.ts';
import { presentDiff } from '../present/diff.ts';
import { presentTime } from '../present/timestamp.ts';
import { presentUserSummary } from '../present/user.ts';
import { findNote, type NoteRow } from '../queries/notes.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { findHookProject, type HookProject, projectBlock, repositoryBlock } from './blocks.ts';
import { commitBlock, orNull } from './commit-block.ts';

interface Said {
  note: NoteRow;
  project: HookProject;
  commit: Commit;
}

/** The message of a comment on a commit. @returns null when the comment, the project or the commit is gone. */
export async function noteMessage(work: Work, noteId: number): Promise<Record<string, unknown> | null> {
  const note = await findNote(work.em, noteId);
  const project = note && (await findHookProject(work, note.project_id));
  if (!project || note.commit_sha === null) return null;
  const reading = readKnownCommit(work.objects, repositoryOf(work, project), note.commit_sha);
  const commit = await orNull(work, { project: project.id, note: note.id }, reading);
  return commit && noteBody(work, { note, project, commit });
}

async function noteBody(work: Work, said: Said): Promise<Record<string, unknown>> {
  const { note, project, commit } = said;
  const { name, username, avatar_url } = presentUserSummary(note.author, work.origin);
  const block = commitBlock(work, project, commit);
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
      st_diff: await fileDiff(work, said),
      updated_by_id: note.updated_by_id,
      is_award: note.is_award,
      type: note.line_code === null ? null : 'DiffNote',
      url: `${block.url}#note_${note.id}`,
    },
    repository: repositoryBlock(work, project),
    commit: block,
  };
}

/** What the commit did to the file of the line that is commented on. */
async function fileDiff(work: Work, said: Said) {
  const { note, project, commit } = said;
  const { path, line, line_type: lineType } = note;
  if (path === null || line === null || lineType === null) return null;
  const dir = repositoryOf(work, project);
  const found = await orNull(
    work,
    { project: project.id, note: note.id },
    findCommentedLine({ dir, commit, path, line, lineType }),
  );
  return found && presentDiff(found.file);
}
