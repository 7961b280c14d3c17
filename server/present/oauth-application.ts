import { z } from 'zod';
import type { ApplicationRow } from '../queries/oauth-applications.ts';
import { presentTime, Timestamp } from './timestamp.ts';

/** A program that acts for users, with the keys under which later clients look for it. */
export const ApplicationJson = z.strictObject({
  id: z.number(),
  application_id: z.string(),
  application_name: z.string(),
  /** One per line. */
  callback_url: z.string(),
  confidential: z.boolean(),
  owner_id: z.number().nullable(),
  created_at: Timestamp,
});

/** At its registration only: null for those that cannot keep a secret. */
export const NewApplicationJson = z.strictObject({
  ...ApplicationJson.shape,
  secret: z.string().nullable(),
});

export function presentApplication(row: ApplicationRow): z.infer<typeof ApplicationJson> {
  return {
    id: row.id,
    application_id: row.uid,
    application_name: row.name,
    callback_url: row.redirect_uris.join('\n'),
    confidential: row.confidential,
    owner_id: row.owner_id,
    created_at: presentTime(row.created_at),
  };
}
