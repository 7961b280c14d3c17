import { hasRoom, wakeHooks } from '../queries/hook-tasks.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** The event of everything that the system's hooks are told. */
export const systemEvent = 'System Hook';

/**
 * Puts up a message for each hook of the system, to be sent once the transaction of `work` is committed. A hook gets
 * its messages in the order in which they were put up, except for those that it fails on.
 */
export async function enqueue(work: Work, body: Record<string, unknown>): Promise<void> {
  const row = await sqlOne<{ full: number[] | null }>(work.em, put, [systemEvent, JSON.stringify(body)]);
  if (row?.full) work.log.warn({ hooks: row.full }, 'too many messages wait for these hooks; left one out');
}

const put = `
  with heard as (
    select h.id, ${hasRoom} as has_room from hooks h where h.project_id is null order by h.id for key share of h
  ), told as (
    insert into hook_deliveries (hook_id, event, body) select id, $1, $2 from heard where has_room
    returning hook_id
  )
  select (select array_agg(id) from heard where not has_room) as full, ${wakeHooks} as woken`;
