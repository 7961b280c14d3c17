import { z } from 'zod';
import type { SnippetRow } from '../queries/snippets.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Snippet". */
export const SnippetJson = z.strictObject({
  id: z.number(),
  title: z.string(),
  file_name: z.string(),
  author: UserSummaryJson,
  /** They last for ever. */
  expires_at: z.null(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function presentSnippet(row: SnippetRow, origin: string): z.infer<typeof SnippetJson> {
  return {
    id: row.id,
    title: row.title,
    file_name: row.file_name,
    author: presentUserSummary(row.author, origin),
    expires_at: null,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
  };
}
