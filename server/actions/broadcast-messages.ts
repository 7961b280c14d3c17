import { invalid } from '../errors.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export interface BroadcastMessageChange {
  message?: string | undefined;
  startsAt?: Date | undefined;
  endsAt?: Date | undefined;
  color?: string | undefined;
  font?: string | undefined;
}

/**
 * Makes a message that everybody sees from now, or from when it says, for an hour unless told.
 *
 * @throws AppError 400 when it would end before it starts.
 */
export async function createBroadcastMessage(
  work: Work,
  given: BroadcastMessageChange & { message: string },
): Promise<number> {
  const row = await sqlOne<{ id: number; in_order: boolean }>(
    work.em,
    `insert into broadcast_messages (message, starts_at, ends_at, color, font)
     select $1, t.at, coalesce($3, t.at + interval '1 hour'), $4, $5 from (select coalesce($2, date_trunc('milliseconds', now())) as at) t
     returning id, starts_at < ends_at as in_order`,
    [given.message, given.startsAt, given.endsAt, given.color, given.font],
  );
  requireOrder(row?.in_order);
  return row?.id ?? 0;
}

/**
 * Changes what is given and leaves the rest.
 *
 * @returns false when there is no such message.
 * @throws AppError 400 when it would end before it starts.
 */
export async function updateBroadcastMessage(
  work: Work,
  id: number,
  change: BroadcastMessageChange,
): Promise<boolean> {
  const row = await sqlOne<{ in_order: boolean }>(
    work.em,
    `update broadcast_messages set message = coalesce($2, message), starts_at = coalesce($3, starts_at),
       ends_at = coalesce($4, ends_at), color = coalesce($5, color), font = coalesce($6, font), updated_at = now()
     where id = $1 returning starts_at < ends_at as in_order`,
    [id, change.message, change.startsAt, change.endsAt, change.color, change.font],
  );
  if (!row) return false;
  requireOrder(row.in_order);
  return true;
}

/** Thrown inside the transaction, so that nothing of the change stays. */
function requireOrder(isInOrder: boolean | undefined): void {
  if (!isInOrder) throw invalid({ ends_at: ['must be after starts_at'] });
}
