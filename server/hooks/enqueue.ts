import { noteDropped, room, wakeHooks } from '../queries/hook-tasks.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** The event of everything that the system's hooks are told. */
export const systemEvent = 'System Hook';

/**
 * Puts up messages for each hook of the system, to be sent once the transaction of `work` is committed: one statement,
 * however many. A hook gets its messages in the order in which they were put up, except for those that it fails on;
 * what it has no room for is left out, the last ones first.
 */
export async function enqueue(work: Work, bodies: Record<string, unknown>[]): Promise<void> {
  if (bodies.length === 0) return;
  const texts = bodies.map((body) => JSON.stringify(body));
  await sql(work.em, put, [systemEvent, texts]);
}

const put = `
  with system_hooks as (
    select h.id, ${room} as room from hooks h where h.project_id is null order by h.id for key share of h
  ), heard as (
    select id as hook_id, $1::text as event, room, room >= cardinality($2::text[]) as has_room from system_hooks
  ), messages as (
    select body, number from unnest($2::text[]) with ordinality as given(body, number)
  ), ${noteDropped}, told as (
    insert into hook_deliveries (hook_id, event, body)
    select h.hook_id, h.event, m.body from messages m join heard h on m.number <= h.room order by m.number, h.hook_id
    returning hook_id
  )
  select ${wakeHooks} as woken`;
