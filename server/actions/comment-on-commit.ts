import { findCommentedLine } from '../git/commented-line.ts';
import type { Commit } from '../git/commit.ts';
import { keepAround } from '../git/refs.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { inTransaction } from '../sql.ts';
import { createNote } from './create-note.ts';

export interface CommitComment {
  projectId: number;
  authorId: number;
  commit: Commit;
  body: string;
  /** Where in the commit's diff it would stand. */
  wanted: { path: string; line: number; lineType: 'new' | 'old' } | null;
  signal: AbortSignal;
}

/**
 * Says something of a commit, or of a line that it added or removed; of the commit as a whole where there is no such
 * line. The commit stays reachable from then on.
 *
 * @param work outside a transaction: git may need its time.
 * @returns id of the note.
 */
export async function commentOnCommit(work: Work, comment: CommitComment): Promise<number> {
  const { projectId, authorId, commit, body, wanted, signal } = comment;
  const dir = repositoryOf(work, { id: projectId });
  const line = wanted && (await findCommentedLine(work.objects, { ...wanted, dir, commit, signal }));
  const place = wanted && line && { ...wanted, lineCode: line.lineCode };
  await keepAround(dir, commit.sha);
  const noteable = { type: 'Commit', id: null, sha: commit.sha } as const;
  return inTransaction(work, (inner) => createNote(inner, { projectId, authorId, noteable, body, place }));
}
