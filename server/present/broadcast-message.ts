import { z } from 'zod';
import type { BroadcastMessageRow } from '../queries/broadcast-messages.ts';
import { presentTime, Timestamp } from './timestamp.ts';

export const BroadcastMessageJson = z.strictObject({
  id: z.number(),
  message: z.string(),
  starts_at: Timestamp,
  ends_at: Timestamp,
  color: z.string().nullable(),
  font: z.string().nullable(),
  active: z.boolean(),
});

export function presentBroadcastMessage(row: BroadcastMessageRow): z.infer<typeof BroadcastMessageJson> {
  return { ...row, starts_at: presentTime(row.starts_at), ends_at: presentTime(row.ends_at) };
}
