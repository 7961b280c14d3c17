import type { BuildStatus } from '../../shared/build-status.ts';

export type AggregateStatus = BuildStatus | 'skipped';

export interface StatusRow {
  status: AggregateStatus;
  allowFailure: boolean;
}

/**
 * One status for the latest builds of a stage, a pipeline or a commit. A failed build that is allowed to
 * fail counts as success, skipped rows do not count beside others, and a failure shows only when nothing is
 * left to run.
 *
 * @returns null when there are no rows.
 */
export function aggregateStatus(rows: StatusRow[]): AggregateStatus | null {
  const counted = rows.filter(({ status }) => status !== 'skipped');
  if (counted.length === 0) return rows.length === 0 ? null : 'skipped';
  if (counted.every(isFine)) return 'success';
  if (counted.every(({ status }) => status === 'pending')) return 'pending';
  if (counted.every((row) => row.status === 'canceled' || isFine(row))) return 'canceled';
  if (counted.some(({ status }) => status === 'running' || status === 'pending')) return 'running';
  return 'failed';
}

function isFine({ status, allowFailure }: StatusRow): boolean {
  return status === 'success' || (allowFailure && (status === 'failed' || status === 'canceled'));
}

/** The status of a commit over its pipelines; null without any. A failed pipeline is never forgiven. */
export function commitStatus(pipelines: AggregateStatus[]): AggregateStatus | null {
  return aggregateStatus(pipelines.map((status) => ({ status, allowFailure: false })));
}
