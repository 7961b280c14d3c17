import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildStatus } from '../../shared/build-status.ts';
import { sqlOne } from '../sql.ts';

/** A build as the runner API needs it: its state, and what its tokens are compared with. */
export interface BuildAccessRow {
  id: number;
  project_id: number;
  pipeline_id: number;
  status: BuildStatus;
  runner_id: number | null;
  erased_at: Date | null;
  /** Running, or ended less than ten minutes ago by success or failure. */
  takes_uploads: boolean;
  runners_token_digest: Buffer;
  artifacts_key: string | null;
  artifacts_filename: string | null;
  max_artifacts_size: number;
}

export async function findBuildAccess(em: EntityManager, id: number): Promise<BuildAccessRow | null> {
  return sqlOne<BuildAccessRow>(
    em,
    `select b.id, b.project_id, b.pipeline_id, b.status, b.runner_id, b.erased_at, p.runners_token_digest,
       b.status = 'running' or (b.status in ('success', 'failed') and b.finished_at > now() - interval '10 minutes')
         as takes_uploads,
       case when b.artifacts_expire_at is null or b.artifacts_expire_at > now() then b.artifacts_key end
         as artifacts_key,
       b.artifacts_filename, s.max_artifacts_size
     from builds b join projects p on p.id = b.project_id and not p.pending_delete cross join settings s
     where b.id = $1`,
    [id],
  );
}

/** Whether the build of another token belongs to the project and is still at work. */
export async function isLiveBuildOf(em: EntityManager, buildId: number, projectId: number): Promise<boolean> {
  const row = await sqlOne(
    em,
    `select 1 from builds where id = $1 and project_id = $2
       and (status = 'running' or finished_at > now() - interval '10 minutes')`,
    [buildId, projectId],
  );
  return row !== null;
}
