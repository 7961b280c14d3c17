import { z } from 'zod';
import type { IssueRow } from '../queries/issue-row.ts';
import { MilestoneJson, presentMilestone } from './milestone.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Issue". */
export const IssueJson = z.strictObject({
  id: z.number(),
  iid: z.number(),
  project_id: z.number(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed']),
  created_at: Timestamp,
  updated_at: Timestamp,
  labels: z.array(z.string()),
  milestone: MilestoneJson.nullable(),
  assignee: UserSummaryJson.nullable(),
  author: UserSummaryJson,
  subscribed: z.boolean(),
  user_notes_count: z.number(),
});

export function presentIssue(row: IssueRow, origin: string): z.infer<typeof IssueJson> {
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
    labels: row.labels,
    milestone: row.milestone && presentMilestone(row.milestone),
    assignee: row.assignee && presentUserSummary(row.assignee, origin),
    author: presentUserSummary(row.author, origin),
    subscribed: row.subscribed,
    user_notes_count: row.user_notes_count,
  };
}
