import type { NoteRow } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { commitOf } from './commit-of.ts';
import type { Letter } from './news.ts';
import type { Sender } from './place-letters.ts';
import { laterLetter, type Thread, threadUrl } from './thread.ts';
import type { Topic } from './topic.ts';

const findProject = `select p.id, p.name, n.path || '/' || p.path as full_path
  from projects p join namespaces n on n.id = p.namespace_id where p.id = $1`;

/**
 * Of a comment on a commit or a snippet. No letter told of those before, but a comment belongs to the others of the
 * same thing as one on an issue does.
 *
 * @returns null when the snippet or the project is gone.
 */
export async function noteLetter(
  work: Work,
  topic: Extract<Topic, { type: 'Snippet' | 'Commit' }>,
  sender: Sender,
): Promise<Letter | null> {
  const { note } = topic;
  const project = await sqlOne<Thread['project']>(work.em, findProject, [note.project_id]);
  const about = topic.type === 'Commit' ? await ofCommit(work, topic) : await ofSnippet(work, topic.id);
  if (!project || !about) return null;
  const thread = { ...about, project };
  const text = commentText(note, threadUrl(thread, sender));
  return laterLetter(thread, { fromName: note.author.name, text }, sender);
}

/** @param url of what the comment is about. */
export function commentText({ id, author, body, path, line }: NoteRow, url: string): string {
  const place = path === null ? '' : ` on ${path}, line ${line}`;
  return `${author.name} commented${place}:\n\n${body.trim()}\n\n${url}#note_${id}\n`;
}

type About = Omit<Thread, 'project'>;

async function ofCommit(work: Work, { projectId, sha }: { projectId: number; sha: string }): Promise<About> {
  const commit = await commitOf(work, { projectId, sha });
  return {
    name: `commit_${projectId}_${sha}`,
    subject: `${commit?.title ?? 'Commit'} (${sha.slice(0, 8)})`,
    sorting: ['Commit-ID', sha],
    path: `commit/${sha}`,
  };
}

async function ofSnippet({ em }: Work, id: number): Promise<About | null> {
  const snippet = await sqlOne<{ title: string }>(em, 'select title from snippets where id = $1', [id]);
  return (
    snippet && {
      name: `snippet_${id}`,
      subject: `${snippet.title} ($${id})`,
      sorting: ['Snippet-ID', String(id)],
      path: `snippets/${id}`,
    }
  );
}
