import { removeRepository } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { abandonedStagings, removeStaging } from '../git/staging.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** Longer than anything that is made there may take. */
const abandonedMs = 6 * 3_600_000;

/**
 * Removes what servers that died have left of forks and imports: also the repository of a fork that was in its place
 * already when the project was not yet.
 */
export async function sweepStagings(work: Work): Promise<void> {
  const root = work.repositoriesDir;
  for (const { kind, projectId, dir } of await abandonedStagings(root, abandonedMs)) {
    if (kind === 'fork' && !(await exists(work, projectId))) {
      await removeRepository(repositoryDir(root, projectId));
    }
    await removeStaging(dir);
    work.log.info({ project: projectId, kind }, 'removed what was left of an attempt');
  }
}

async function exists({ em }: Work, projectId: number): Promise<boolean> {
  return (await sqlOne(em, 'select 1 from projects where id = $1', [projectId])) !== null;
}
