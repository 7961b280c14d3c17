import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildStatus } from '../../shared/build-status.ts';
import type { PipelineCommit } from '../entities/pipeline.ts';
import { sqlOne } from '../sql.ts';
import { profileJson, type UserProfileRow } from './user-row.ts';

/** A build as the interface shows it. */
export interface BuildRow {
  id: number;
  project_id: number;
  pipeline_id: number;
  name: string;
  stage: string;
  status: BuildStatus;
  ref: string;
  tag: boolean;
  sha: string;
  commit: PipelineCommit | null;
  coverage: number | null;
  artifacts_key: string | null;
  artifacts_filename: string | null;
  artifacts_size: number | null;
  erased_at: Date | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  runner: {
    id: number;
    description: string | null;
    active: boolean;
    is_shared: boolean;
    name: string | null;
  } | null;
  user: (Omit<UserProfileRow, 'created_at'> & { created_at: string }) | null;
}

/** Artifacts past their date are gone at once, whenever the bytes are removed. */
const artifactsThere = '(b.artifacts_expire_at is null or b.artifacts_expire_at > now())';

export const buildColumns = `b.id, b.project_id, b.pipeline_id, b.name, b.stage, b.status, pl.ref, pl.tag, pl.sha,
  pl.commit, b.coverage, b.erased_at, b.created_at, b.started_at, b.finished_at,
  case when ${artifactsThere} then b.artifacts_key end as artifacts_key,
  case when ${artifactsThere} then b.artifacts_filename end as artifacts_filename,
  case when ${artifactsThere} then b.artifacts_size::float8 end as artifacts_size,
  case when r.id is not null then json_build_object('id', r.id, 'description', r.description, 'active', r.active,
    'is_shared', r.is_shared, 'name', r.name) end as runner,
  ${profileJson} as user`;

export const buildTables = `builds b
  join pipelines pl on pl.id = b.pipeline_id
  left join runners r on r.id = b.runner_id
  left join users u on u.id = b.user_id`;

const byId = `select ${buildColumns} from ${buildTables} where b.project_id = $1 and b.id = $2`;

/** A build of this project, or null. */
export async function findBuild(em: EntityManager, projectId: number, id: number): Promise<BuildRow | null> {
  return sqlOne<BuildRow>(em, byId, [projectId, id]);
}
