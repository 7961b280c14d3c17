import { z } from 'zod';
import type { NoteRow } from '../queries/notes.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Commit comment". The place is that in the commit's diff, if it has one. */
export const CommitCommentJson = z.strictObject({
  note: z.string(),
  author: UserSummaryJson,
  path: z.string().nullable(),
  /** On the side that the type says, from 1. */
  line: z.number().nullable(),
  line_type: z.enum(['new', 'old']).nullable(),
  created_at: Timestamp,
});

export function presentCommitComment(row: NoteRow, origin: string): z.infer<typeof CommitCommentJson> {
  return {
    note: row.body,
    author: presentUserSummary(row.author, origin),
    path: row.path,
    line: row.line,
    line_type: row.line_type,
    created_at: presentTime(row.created_at),
  };
}
