import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Kinds of events that a hook may be told of or not, as the columns are called. */
export type HookFlag = 'push_events' | 'tag_push_events' | 'build_events';

/** A hook with so many messages waiting gets no more: nobody reads them at the other end. */
const mostWaiting = 1000;

export interface Message {
  /** Whose hooks hear it: those of a project, or with null the system's. */
  projectId: number | null;
  /** Only hooks with this flag; without one, all of them. */
  flag?: HookFlag;
  /** The value of the header that names the kind. */
  event: string;
  body: Record<string, unknown>;
}

/** The event of everything that the system's hooks are told. */
export const systemEvent = 'System Hook';

/**
 * Writes a message for each hook that wants it, to be sent once the transaction of `work` is committed. One hook
 * gets its messages in the order in which they were written, except for those that have to be sent again.
 */
export async function enqueue(work: Work, { projectId, flag, event, body }: Message): Promise<void> {
  const ofWhom = projectId === null ? 'h.project_id is null' : 'h.project_id = $3';
  const values = [event, JSON.stringify(body), ...(projectId === null ? [] : [projectId])];
  const rows = await sql<{ hook_id: number; is_full: boolean }>(work.em, statement(ofWhom, flag), values);
  const full = rows.filter((row) => row.is_full).map((row) => row.hook_id);
  if (full.length > 0)
    work.log.warn({ hooks: full, event }, 'too many messages wait for these hooks; left one out');
}

function statement(ofWhom: string, flag: HookFlag | undefined): string {
  return `
  with heard as (
    select h.id, (select count(*) from (select from hook_deliveries d
      where d.hook_id = h.id and d.state = 'waiting' limit ${mostWaiting}) w) >= ${mostWaiting} as is_full
    from hooks h where ${ofWhom}${flag ? ` and h.${flag}` : ''} order by h.id for key share of h
  ), made as (
    insert into hook_deliveries (hook_id, event, body) select id, $1, $2 from heard where not is_full
    returning id, hook_id
  )
  select hook_id, false as is_full, (graphile_worker.add_job('deliver_hook',
      json_build_object('deliveryId', id, 'attempt', 0), queue_name := 'hook:' || hook_id)).id as job from made
  union all
  select id, true, null from heard where is_full`;
}
