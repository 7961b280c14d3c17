import type { EntityManager } from '@mikro-orm/postgresql';
import type { AggregateStatus } from '../ci/status.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { summaryJson, type UserSummaryRow } from './user-summary.ts';

/** A pipeline as answers show it. */
export interface PipelineRow {
  id: number;
  iid: number | null;
  status: AggregateStatus;
  ref: string;
  tag: boolean;
  sha: string;
  before_sha: string;
  source: 'push' | 'trigger' | 'api' | 'external';
  yaml_errors: string | null;
  yaml_warnings: string | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  /** Mean of its latest builds, two decimals. */
  coverage: number | null;
  /** From and to of each of its latest builds that has ended, in seconds since 1970. */
  spans: [number, number][];
  /** Jobs that wait to be started by hand. */
  manual_jobs: { id: number; name: string; stage: string }[];
  user: UserSummaryRow | null;
}

const columns = `pl.id, pl.iid, pl.status, pl.ref, pl.tag, pl.sha, pl.before_sha, pl.source, pl.yaml_errors,
  pl.yaml_warnings, pl.created_at, pl.started_at, pl.finished_at,
  (select round(avg(coverage)::numeric, 2)::float8 from builds b where b.pipeline_id = pl.id and b.latest) as coverage,
  (select coalesce(json_agg(json_build_array(extract(epoch from started_at), extract(epoch from finished_at))), '[]')
    from builds b where b.pipeline_id = pl.id and b.latest and b.started_at is not null
      and b.finished_at is not null) as spans,
  (select coalesce(json_agg(json_build_object('id', j.planned_build_id, 'name', j.name,
      'stage', j.definition->>'stage') order by j.position), '[]')
    from pipeline_jobs j where j.pipeline_id = pl.id and j.planned_build_id is not null) as manual_jobs,
  ${summaryJson} as user`;

const tables = 'pipelines pl left join users u on u.id = pl.user_id';

export interface PipelineFilter {
  projectId: number;
  ref?: string | undefined;
  sha?: string | undefined;
}

/** Pipelines of a project, newest first. */
export function listPipelines({ projectId, ref, sha }: PipelineFilter): ListQuery {
  const values: unknown[] = [projectId];
  let where = 'pl.project_id = $1';
  if (ref !== undefined) where += ` and pl.ref = $${values.push(ref)}`;
  if (sha !== undefined) where += ` and pl.sha = $${values.push(sha)}`;
  return {
    columns,
    from: `${tables} where ${where}`,
    order: 'pl.id desc',
    values,
    countFrom: `pipelines pl where ${where}`,
  };
}

export async function findPipeline(
  em: EntityManager,
  projectId: number,
  id: number,
): Promise<PipelineRow | null> {
  return sqlOne<PipelineRow>(em, `select ${columns} from ${tables} where pl.project_id = $1 and pl.id = $2`, [
    projectId,
    id,
  ]);
}
