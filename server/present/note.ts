import { z } from 'zod';
import type { NoteRow } from '../queries/notes.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Note". */
export const NoteJson = z.strictObject({
  id: z.number(),
  body: z.string(),
  attachment: z.null(),
  author: UserSummaryJson,
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Written by the server for what the author did. */
  system: z.boolean(),
  upvote: z.boolean(),
  downvote: z.boolean(),
  /** Null for a commit, as in the activity of a project. */
  noteable_id: z.number().nullable(),
  noteable_type: z.string(),
});

export function presentNote(row: NoteRow, origin: string): z.infer<typeof NoteJson> {
  return {
    id: row.id,
    body: row.body,
    attachment: null,
    author: presentUserSummary(row.author, origin),
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
    system: row.system,
    upvote: row.upvote,
    downvote: row.downvote,
    noteable_id: row.noteable_id,
    noteable_type: row.noteable_type,
  };
}
