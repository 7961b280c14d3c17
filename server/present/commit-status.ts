import { z } from 'zod';
import { buildStatuses } from '../../shared/build-status.ts';
import type { CommitStatusRow } from '../queries/commit-statuses.ts';
import { presentTime, presentTimeOrNull, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Commit status". */
export const CommitStatusJson = z.strictObject({
  id: z.number(),
  sha: z.string(),
  ref: z.string().nullable(),
  status: z.enum(buildStatuses),
  name: z.string(),
  description: z.string().nullable(),
  target_url: z.string().nullable(),
  allow_failure: z.boolean(),
  author: UserSummaryJson.nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
});

export function presentCommitStatus(row: CommitStatusRow, origin: string): z.infer<typeof CommitStatusJson> {
  return {
    id: row.id,
    sha: row.sha,
    ref: row.ref,
    status: row.status,
    name: row.name,
    description: row.description,
    target_url: row.target_url,
    allow_failure: row.allow_failure,
    author: row.author && presentUserSummary(row.author, origin),
    created_at: presentTime(row.created_at),
    started_at: presentTimeOrNull(row.started_at),
    finished_at: presentTimeOrNull(row.finished_at),
  };
}
