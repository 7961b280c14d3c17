import { notFound } from '../errors.ts';
import type { NoteParent } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** By how much a thing's numbers change. */
export interface ParentChange {
  /** What people say, with their votes. */
  comments?: number;
  upvotes?: number;
  downvotes?: number;
}

/**
 * Lets a thing count as changed, with what is said of it, and keeps it: whoever else says something of it, or changes it,
 * waits until the end of the transaction. Comes first in that.
 *
 * @returns whether the thing is nobody's business but its author's.
 * @throws AppError 404 when it was removed meanwhile.
 */
export async function touchParent(
  { em }: Work,
  { type, id }: NoteParent,
  { comments = 0, upvotes = 0, downvotes = 0 }: ParentChange = {},
): Promise<{ isPrivate: boolean }> {
  const counts = { Issue: [comments], MergeRequest: [comments, upvotes, downvotes], Snippet: [] };
  const row = await sqlOne<{ is_private: boolean }>(em, statements[type], [id, ...counts[type]]);
  if (!row) throw notFound();
  return { isPrivate: row.is_private };
}

const statements: Record<NoteParent['type'], string> = {
  Issue: `update issues set updated_at = now(), user_notes_count = user_notes_count + $2
    where id = $1 and deleted_at is null returning false as is_private`,
  MergeRequest: `update merge_requests set updated_at = now(), user_notes_count = user_notes_count + $2,
      upvotes = upvotes + $3, downvotes = downvotes + $4
    where id = $1 and deleted_at is null returning false as is_private`,
  Snippet:
    'update snippets set updated_at = now() where id = $1 returning visibility_level = 0 as is_private',
};
