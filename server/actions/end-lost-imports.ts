import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { failImport } from './import-project.ts';

const reason = 'this server could not carry it out';

/**
 * Fails imports that no task will go on with, since all attempts have failed for other reasons than the repository:
 * their projects would be closed to pushes for ever.
 */
export async function endLostImports(work: Work): Promise<void> {
  const lost = await sql<{ project_id: number; user_id: number | null }>(work.em, findLost);
  for (const { project_id: projectId, user_id: userId } of lost) {
    work.log.warn({ project: projectId }, 'gave up an import, for which no attempts are left');
    await failImport(work, projectId, { userId, reason });
  }
}

const findLost = `
  select i.project_id, i.user_id from project_imports i
  where not exists (
    select from graphile_worker.jobs j where j.key = 'import_project:' || i.project_id
      and (j.attempts < j.max_attempts or j.locked_at is not null))
  order by i.project_id limit 1000`;
