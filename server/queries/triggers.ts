import type { EntityManager } from '@mikro-orm/postgresql';
import type { PipelineCommit } from '../entities/pipeline.ts';
import { tokenDigest } from '../secrets.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

export interface TriggerRow {
  id: number;
  project_id: number;
  token_sealed: Buffer;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
  last_used: Date | null;
}

const columns = 't.id, t.project_id, t.token_sealed, t.created_at, t.updated_at, t.deleted_at, t.last_used';

/** Triggers of a project that have not been revoked. */
export function listTriggers(projectId: number): ListQuery {
  return {
    columns,
    from: 'triggers t where t.project_id = $1 and t.deleted_at is null',
    order: 't.id',
    values: [projectId],
  };
}

/** The trigger with this token, of whatever project, unless it has been revoked. */
export async function findTrigger(em: EntityManager, token: string): Promise<TriggerRow | null> {
  return sqlOne<TriggerRow>(
    em,
    `select ${columns} from triggers t where t.token_digest = $1 and t.deleted_at is null`,
    [tokenDigest(token)],
  );
}

export interface TriggeredPipelineRow {
  id: number;
  project_id: number;
  sha: string;
  status: string;
  commit: PipelineCommit | null;
  created_at: Date;
  finished_at: Date | null;
}

/** A pipeline as the older address of triggers answers it. */
export async function findTriggeredPipeline(
  em: EntityManager,
  id: number,
): Promise<TriggeredPipelineRow | null> {
  return sqlOne<TriggeredPipelineRow>(
    em,
    'select id, project_id, sha, status, commit, created_at, finished_at from pipelines where id = $1',
    [id],
  );
}
