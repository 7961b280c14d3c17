import type { BuildStatus } from '../../shared/build-status.ts';
import { buildColumns, buildTables } from './build-row.ts';
import type { ListQuery } from './list-query.ts';

export interface BuildFilter {
  projectId: number;
  /** Null: every state. */
  statuses: BuildStatus[] | null;
  /** Only builds of this commit. */
  sha?: string;
}

/** Builds of a project, newest first. */
export function listBuilds({ projectId, statuses, sha }: BuildFilter): ListQuery {
  const values: unknown[] = [projectId];
  let where = 'b.project_id = $1';
  if (statuses) {
    values.push(statuses);
    where += ` and b.status = any($${values.length})`;
  }
  if (sha !== undefined) {
    values.push(sha);
    where += ` and b.pipeline_id in (select id from pipelines where project_id = $1 and sha = $${values.length})`;
  }
  return {
    columns: buildColumns,
    from: `${buildTables} where ${where}`,
    order: 'b.id desc',
    values,
    countFrom: `builds b where ${where}`,
  };
}
