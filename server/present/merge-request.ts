import { z } from 'zod';
import { isWorkInProgress } from '../policy/work-in-progress.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import { MilestoneJson, presentMilestone } from './milestone.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

/** Interface: "Merge request". */
export const MergeRequestJson = z.strictObject({
  id: z.number(),
  iid: z.number(),
  project_id: z.number(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed', 'merged', 'reopened']),
  created_at: Timestamp,
  updated_at: Timestamp,
  target_branch: z.string(),
  source_branch: z.string(),
  upvotes: z.number(),
  downvotes: z.number(),
  author: UserSummaryJson,
  assignee: UserSummaryJson.nullable(),
  /** Null once that project is gone. */
  source_project_id: z.number().nullable(),
  target_project_id: z.number(),
  labels: z.array(z.string()),
  work_in_progress: z.boolean(),
  milestone: MilestoneJson.nullable(),
  merge_when_build_succeeds: z.boolean(),
  merge_status: z.enum(['unchecked', 'can_be_merged', 'cannot_be_merged']),
  subscribed: z.boolean(),
  user_notes_count: z.number(),
});

export function presentMergeRequest(row: MergeRequestRow, origin: string): z.infer<typeof MergeRequestJson> {
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    author: presentUserSummary(row.author, origin),
    assignee: row.assignee && presentUserSummary(row.assignee, origin),
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    labels: row.labels,
    work_in_progress: isWorkInProgress(row.title),
    milestone: row.milestone && presentMilestone(row.milestone),
    merge_when_build_succeeds: row.merge_when_build_succeeds,
    merge_status: row.merge_status,
    subscribed: row.subscribed,
    user_notes_count: row.user_notes_count,
  };
}
