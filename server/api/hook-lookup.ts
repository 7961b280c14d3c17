import { notFound } from '../errors.ts';
import type { PageAnswer } from '../http/answers.ts';
import { type PageRequest, paginate } from '../http/paginate.ts';
import { presentHookDelivery } from '../present/hook.ts';
import { findHook, type HookDeliveryRow, type HookRow, listHookDeliveries } from '../queries/hooks.ts';
import type { Work } from '../services.ts';

/** @param projectId null: the hook is one of the system. */
export async function requireHook(work: Work, projectId: number | null, id: number): Promise<HookRow> {
  const row = await findHook(work.em, projectId, id);
  if (!row) throw notFound();
  return row;
}

/** What was sent to a hook of late, and what waits to be sent. */
export async function listDeliveries(work: Work, hook: HookRow, page: PageRequest) {
  const rows: PageAnswer<HookDeliveryRow> = await paginate(work.em, listHookDeliveries(hook.id), page);
  return rows.map(presentHookDelivery);
}
