import type { ListQuery } from './list-query.ts';
import { mergeRequestColumns, mergeRequestTables } from './merge-request-row.ts';

export const mergeRequestOrders = ['created_at', 'updated_at'] as const;

export interface MergeRequestFilter {
  iid?: number | undefined;
  /** `opened` are those that can still be merged, also where they had been closed before. */
  state?: keyof typeof states | undefined;
  order_by?: (typeof mergeRequestOrders)[number] | undefined;
  sort?: 'asc' | 'desc' | undefined;
}

const states = {
  opened: ` and t.state in ('opened', 'reopened')`,
  closed: ` and t.state = 'closed'`,
  merged: ` and t.state = 'merged'`,
  all: '',
};

/** Merge requests into a project, newest first unless told. */
export function listMergeRequests(
  viewer: { id: number },
  projectId: number,
  { iid, state = 'all', order_by = 'created_at', sort = 'desc' }: MergeRequestFilter,
): ListQuery {
  const countValues = iid === undefined ? [projectId] : [projectId, iid];
  const byIid = iid === undefined ? '' : ' and t.iid = $2';
  const from = `merge_requests t where t.project_id = $1 and t.deleted_at is null${byIid}${states[state]}`;
  const back = sort === 'asc' ? 'desc' : 'asc';
  return {
    columns: mergeRequestColumns(`$${countValues.length + 1}`),
    from: mergeRequestTables,
    order: `t.${order_by} ${sort}, t.id ${sort}`,
    values: [...countValues, viewer.id],
    countFrom: from,
    countValues,
    index: { key: 't.id', from, backwards: `t.${order_by} ${back}, t.id ${back}` },
  };
}
