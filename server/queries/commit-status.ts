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

/** What services outside have said last of a commit: what those see of its state who may not see its builds. */
export async function outsideStatuses(
  em: EntityManager,
  projectId: number,
  sha: string,
): Promise<AggregateStatus[]> {
  const rows = await sql<{ status: AggregateStatus }>(
    em,
    `select e.status from external_statuses e join pipelines pl on pl.id = e.pipeline_id
     where pl.project_id = $1 and pl.sha = $2 and e.latest order by e.id`,
    [projectId, sha],
  );
  return rows.map(({ status }) => status);
}
