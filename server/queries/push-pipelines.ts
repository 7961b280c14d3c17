import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../sql.ts';

/** A pipeline that a push started, as its pusher is told of it. */
export interface PushPipelineRow {
  id: number;
  ref: string;
  status: string;
  /** One fault of the file per line. */
  yaml_errors: string | null;
  yaml_warnings: string | null;
}

/** In the order of the refs in the push. */
export function pipelinesOfPush(em: EntityManager, pushId: number): Promise<PushPipelineRow[]> {
  return sql<PushPipelineRow>(
    em,
    'select id, ref, status, yaml_errors, yaml_warnings from pipelines where push_id = $1 order by id',
    [pushId],
  );
}
