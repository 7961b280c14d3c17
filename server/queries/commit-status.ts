import type { EntityManager } from '@mikro-orm/postgresql';
import type { AggregateStatus } from '../ci/status.ts';
import { sql } from '../sql.ts';

/** States of all pipelines of each of the commits. Commits without a pipeline are left out. */
export async function pipelinesOfCommits(
  em: EntityManager,
  projectId: number,
  shas: string[],
): Promise<Map<string, AggregateStatus[]>> {
  const rows = await sql<{ sha: string; statuses: AggregateStatus[] }>(
    em,
    `select sha, array_agg(status order by id) as statuses from pipelines
     where project_id = $1 and sha = any($2) group by sha`,
    [projectId, shas],
  );
  return new Map(rows.map(({ sha, statuses }) => [sha, statuses]));
}
