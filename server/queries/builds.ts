import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildStatus } from '../../shared/build-status.ts';
import { sqlOne } from '../sql.ts';
import { type BuildRow, buildColumns, buildTables } from './build-row.ts';
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

/** The build of a job in the newest successful pipeline of a ref, if it has succeeded. */
export async function findArtifactsBuild(
  em: EntityManager,
  { projectId, ref, job }: { projectId: number; ref: string; job: string },
): Promise<BuildRow | null> {
  return sqlOne<BuildRow>(
    em,
    `select ${buildColumns} from ${buildTables}
     where b.pipeline_id = (select id from pipelines where project_id = $1 and ref = $2 and status = 'success'
       order by id desc limit 1) and b.name = $3 and b.latest and b.status = 'success'`,
    [projectId, ref, job],
  );
}
