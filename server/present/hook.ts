import { z } from 'zod';
import type { HookDeliveryRow, HookRow } from '../queries/hooks.ts';
import { presentTime, presentTimeOrNull, Timestamp } from './timestamp.ts';

/** Interface: "System hook". */
export const SystemHookJson = z.strictObject({ id: z.number(), url: z.string(), created_at: Timestamp });

export function presentSystemHook(row: HookRow): z.infer<typeof SystemHookJson> {
  return { id: row.id, url: row.url, created_at: presentTime(row.created_at) };
}

const flags = {
  push_events: z.boolean(),
  tag_push_events: z.boolean(),
  issues_events: z.boolean(),
  merge_requests_events: z.boolean(),
  note_events: z.boolean(),
  enable_ssl_verification: z.boolean(),
};

/** What removing a system hook answers. */
export const RemovedSystemHookJson = z.strictObject({
  ...SystemHookJson.shape,
  updated_at: Timestamp,
  project_id: z.null(),
  service_id: z.null(),
  ...flags,
});

export function presentRemovedSystemHook(row: HookRow): z.infer<typeof RemovedSystemHookJson> {
  return {
    ...presentSystemHook(row),
    updated_at: presentTime(row.updated_at),
    project_id: null,
    service_id: null,
    ...presentFlags(row),
  };
}

/** What a test of a system hook sends, and answers. */
export const HookTestJson = z.strictObject({
  event_name: z.string(),
  name: z.string(),
  path: z.string(),
  project_id: z.number(),
  owner_name: z.string(),
  owner_email: z.string(),
});

export const ProjectHookJson = z.strictObject({
  ...SystemHookJson.shape,
  project_id: z.number().nullable(),
  ...flags,
  build_events: z.boolean(),
});

export function presentProjectHook(row: HookRow): z.infer<typeof ProjectHookJson> {
  return {
    ...presentSystemHook(row),
    project_id: row.project_id,
    ...presentFlags(row),
    build_events: row.build_events,
  };
}

export const RemovedProjectHookJson = z.strictObject({
  ...ProjectHookJson.shape,
  updated_at: Timestamp,
  service_id: z.null(),
});

export function presentRemovedProjectHook(row: HookRow): z.infer<typeof RemovedProjectHookJson> {
  return { ...presentProjectHook(row), updated_at: presentTime(row.updated_at), service_id: null };
}

function presentFlags(row: HookRow) {
  return {
    push_events: row.push_events,
    tag_push_events: row.tag_push_events,
    issues_events: row.issues_events,
    merge_requests_events: row.merge_requests_events,
    note_events: row.note_events,
    enable_ssl_verification: row.enable_ssl_verification,
  };
}

/** One message to a hook, with what came of its last attempt. */
export const HookDeliveryJson = z.strictObject({
  id: z.number(),
  event: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed', 'dropped']),
  attempts: z.number(),
  request_body: z.string(),
  response_status: z.number().nullable(),
  response_body: z.string().nullable(),
  error: z.string().nullable(),
  /** Seconds. */
  duration: z.number().nullable(),
  created_at: Timestamp,
  sent_at: Timestamp.nullable(),
});

export function presentHookDelivery(row: HookDeliveryRow): z.infer<typeof HookDeliveryJson> {
  return {
    id: row.id,
    event: row.event,
    state: row.state,
    attempts: row.attempts,
    request_body: row.body,
    response_status: row.response_status,
    response_body: row.response_body,
    error: row.error,
    duration: row.duration_ms === null ? null : row.duration_ms / 1000,
    created_at: presentTime(row.created_at),
    sent_at: presentTimeOrNull(row.sent_at),
  };
}
