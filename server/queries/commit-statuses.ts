import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildStatus } from '../../shared/build-status.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { summaryJson, type UserSummaryRow } from './user-summary.ts';

/** A status of a commit: that of a build, or one that a service outside has posted. */
export interface CommitStatusRow {
  id: number;
  sha: string;
  ref: string | null;
  status: BuildStatus;
  name: string;
  description: string | null;
  target_url: string | null;
  allow_failure: boolean;
  author: UserSummaryRow | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
}

const columns = `s.id, s.sha, s.ref, s.status, s.name, s.description, s.target_url, s.allow_failure, s.created_at,
  s.started_at, s.finished_at,
  ${summaryJson} as author`;

const external = `select e.id, pl.sha, e.ref, e.status, e.name, e.description, e.target_url,
    false as allow_failure, e.created_at, e.started_at, e.finished_at, e.user_id, e.latest, 'external' as stage,
    pl.ref as pipeline_ref
  from external_statuses e join pipelines pl on pl.id = e.pipeline_id`;

const ofBuilds = `select b.id, pl.sha, pl.ref, b.status, b.name, null as description, null as target_url,
    b.allow_failure, b.created_at, b.started_at, b.finished_at, b.user_id, b.latest, b.stage,
    pl.ref as pipeline_ref
  from builds b join pipelines pl on pl.id = b.pipeline_id`;

export interface StatusFilter {
  projectId: number;
  sha: string;
  /** Without it only what came from outside is listed. */
  withBuilds: boolean;
  /** Also those that a newer one of the same name has replaced. */
  all: boolean;
  ref?: string | undefined;
  stage?: string | undefined;
  name?: string | undefined;
}

/** Statuses of a commit in all its pipelines, in the order they were made. */
export function listCommitStatuses(filter: StatusFilter): ListQuery {
  const values: unknown[] = [filter.projectId, filter.sha, filter.withBuilds];
  const conditions: string[] = filter.all ? [] : ['s.latest'];
  const add = (column: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`s.${column} = $${values.length}`);
  };
  add('pipeline_ref', filter.ref);
  add('stage', filter.stage);
  add('name', filter.name);
  const ofCommit = 'where pl.project_id = $1 and pl.sha = $2';
  const both = `(${external} ${ofCommit} union all ${ofBuilds} ${ofCommit} and $3) s`;
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  return {
    columns,
    from: `${both} left join users u on u.id = s.user_id${where}`,
    order: 's.id',
    values,
    countFrom: both + where,
  };
}

/** One status that came from outside. */
export async function findExternalStatus(em: EntityManager, id: number): Promise<CommitStatusRow | null> {
  return sqlOne<CommitStatusRow>(
    em,
    `select ${columns} from (${external} where e.id = $1) s left join users u on u.id = s.user_id`,
    [id],
  );
}
