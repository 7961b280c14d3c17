import { z } from 'zod';
import type { LabelRow, StoredLabelRow } from '../queries/labels.ts';
import { presentTime, Timestamp } from './timestamp.ts';

/** What the answer to a change says of a label. */
export const ChangedLabelJson = z.strictObject({
  name: z.string(),
  color: z.string(),
  description: z.string().nullable(),
});

/** Interface: "Label". */
export const LabelJson = z.strictObject({
  ...ChangedLabelJson.shape,
  open_issues_count: z.number(),
  closed_issues_count: z.number(),
  open_merge_requests_count: z.number(),
});

/** With the choice of the caller. */
export const SubscribedLabelJson = z.strictObject({ ...LabelJson.shape, subscribed: z.boolean() });

/** What was stored of a label that is gone. */
export const RemovedLabelJson = z.strictObject({
  id: z.number(),
  title: z.string(),
  color: z.string(),
  description: z.string().nullable(),
  project_id: z.number(),
  template: z.literal(false),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function presentChangedLabel(row: StoredLabelRow): z.infer<typeof ChangedLabelJson> {
  return { name: row.title, color: row.color, description: row.description };
}

export function presentLabel(row: LabelRow): z.infer<typeof LabelJson> {
  return {
    name: row.title,
    color: row.color,
    description: row.description,
    open_issues_count: row.open_issues,
    closed_issues_count: row.closed_issues,
    open_merge_requests_count: row.open_merge_requests,
  };
}

export function presentSubscribedLabel(
  row: LabelRow & { subscribed: boolean },
): z.infer<typeof SubscribedLabelJson> {
  return { ...presentLabel(row), subscribed: row.subscribed };
}

export function presentRemovedLabel(row: StoredLabelRow): z.infer<typeof RemovedLabelJson> {
  return {
    id: row.id,
    title: row.title,
    color: row.color,
    description: row.description,
    project_id: row.project_id,
    template: false,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
  };
}
