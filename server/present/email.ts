import { z } from 'zod';
import type { EmailRow } from '../queries/emails.ts';
import { presentTime, Timestamp } from './timestamp.ts';

/** Interface: "User e-mail". */
export const EmailJson = z.strictObject({ id: z.number(), email: z.string() });

/** What the removal of an address answers. */
export const RemovedEmailJson = z.strictObject({
  ...EmailJson.shape,
  user_id: z.number(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export function presentEmail(row: EmailRow): z.infer<typeof EmailJson> {
  return { id: row.id, email: row.email };
}

export function presentRemovedEmail(row: EmailRow): z.infer<typeof RemovedEmailJson> {
  return {
    ...presentEmail(row),
    user_id: row.user_id,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
  };
}
