import { z } from 'zod';
import type { NoteRow } from '../queries/notes.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** What somebody said of a merge request, as older clients read it. */
export const MergeRequestCommentJson = z.strictObject({ note: z.string(), author: UserSummaryJson });

export function presentMergeRequestComment(
  row: NoteRow,
  origin: string,
): z.infer<typeof MergeRequestCommentJson> {
  return { note: row.body, author: presentUserSummary(row.author, origin) };
}
