import { z } from 'zod';
import type { MilestoneRow } from '../queries/milestone-row.ts';
import { presentTime, Timestamp } from './timestamp.ts';

/** Interface: "Milestone". */
export const MilestoneJson = z.strictObject({
  id: z.number(),
  iid: z.number(),
  project_id: z.number(),
  title: z.string(),
  description: z.string().nullable(),
  /** A day, without a time. */
  due_date: z.string().nullable(),
  state: z.enum(['active', 'closed']),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function presentMilestone(row: MilestoneRow): z.infer<typeof MilestoneJson> {
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    due_date: row.due_date,
    state: row.state,
    created_at: presentTime(new Date(row.created_at)),
    updated_at: presentTime(new Date(row.updated_at)),
  };
}
