import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

export interface HookRow {
  id: number;
  project_id: number | null;
  /** Without user and password. */
  url: string;
  push_events: boolean;
  tag_push_events: boolean;
  issues_events: boolean;
  merge_requests_events: boolean;
  note_events: boolean;
  build_events: boolean;
  enable_ssl_verification: boolean;
  created_at: Date;
  updated_at: Date;
}

export const hookColumns = `id, project_id, url, push_events, tag_push_events, issues_events, merge_requests_events,
  note_events, build_events, enable_ssl_verification, created_at, updated_at`;

/** Whose a hook is: a project's, or with null the system's. */
export type HookOwner = number | null;

/** A condition on hooks, and its one value. */
function ownedBy(owner: HookOwner): { where: string; values: number[] } {
  if (owner === null) return { where: 'project_id is null', values: [] };
  return { where: 'project_id = $1', values: [owner] };
}

/** Newest first. */
export function listHooks(owner: HookOwner): ListQuery {
  const { where, values } = ownedBy(owner);
  return { columns: hookColumns, from: `hooks where ${where}`, order: 'id desc', values };
}

export async function findHook(em: EntityManager, owner: HookOwner, id: number): Promise<HookRow | null> {
  const { where, values } = ownedBy(owner);
  const text = `select ${hookColumns} from hooks where ${where} and id = $${values.length + 1}`;
  return sqlOne<HookRow>(em, text, [...values, id]);
}

export interface HookDeliveryRow {
  id: number;
  event: string;
  /** Empty before it is written. */
  body: string;
  state: 'waiting' | 'delivered' | 'failed' | 'dropped';
  attempts: number;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number | null;
  created_at: Date;
  sent_at: Date | null;
}

/** Bytes of a message that a list shows. */
const shown = 65_536;

/** What was sent to a hook or waits for it, newest first. */
export function listHookDeliveries(hookId: number): ListQuery {
  return {
    columns: `id::float8 as id, event, coalesce(left(body, ${shown}), '') as body, state, attempts, response_status, response_body,
      error, duration_ms, created_at, sent_at`,
    from: 'hook_deliveries where hook_id = $1',
    order: 'hook_deliveries.id desc',
    values: [hookId],
  };
}
