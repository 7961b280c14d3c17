import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildStatus } from '../../shared/build-status.ts';
import type { JobWhen } from '../ci/config.ts';
import { sql, sqlOne } from '../sql.ts';

/** A planned job as the rules of progress see it. */
export interface PlannedJobRow {
  id: number;
  name: string;
  stageIndex: number;
  when: JobWhen;
}

/** The newest build of a job, or the newest status of a name that came from outside and belongs to no stage. */
export interface LatestRow {
  id: number;
  name: string;
  stageIndex: number | null;
  status: BuildStatus;
  allowFailure: boolean;
}

/**
 * Locks a pipeline until the transaction ends. Everything that changes the states of its builds takes this lock
 * first, so that two ends of builds never decide about the next stage at the same time.
 */
export async function lockPipeline(em: EntityManager, id: number): Promise<void> {
  await sqlOne(em, 'select 1 from pipelines where id = $1 for update', [id]);
}

/** The plan of a pipeline, in file order. */
export async function plannedJobs(em: EntityManager, pipelineId: number): Promise<PlannedJobRow[]> {
  return sql<PlannedJobRow>(
    em,
    `select id, name, (definition->>'stageIndex')::int as "stageIndex", definition->>'when' as "when"
     from pipeline_jobs where pipeline_id = $1 order by position`,
    [pipelineId],
  );
}

/** What counts of a pipeline, by builds and by services outside. */
export async function latestRows(em: EntityManager, pipelineId: number): Promise<LatestRow[]> {
  return sql<LatestRow>(
    em,
    `select id, name, stage_idx as "stageIndex", status, allow_failure as "allowFailure"
       from builds where pipeline_id = $1 and latest
     union all
     select id, name, null, status, false from external_statuses where pipeline_id = $1 and latest
     order by id`,
    [pipelineId],
  );
}
