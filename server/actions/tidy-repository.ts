import { performance } from 'node:perf_hooks';
import { GitError } from '../git/errors.ts';
import { removeStaleLocks } from '../git/stale-locks.ts';
import { tidyRepository } from '../git/tidy.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { beginTidying, betweenTidiesSeconds, queueTidying } from './queue-tidying.ts';
import { staleAfter } from './settle-push.ts';

/** Less than the time between two, so that they never meet. */
const timeLimitMs = 50 * 60_000;

const openPush = 'select 1 from pushes where project_id = $1 limit 1';

/**
 * Tidies the repository of a project and notes how large it is, at most once in an hour: asked for earlier, it is
 * put off. What cannot be read is left as it is, until the next pushes.
 *
 * @param signal the server is about to end: what is left is done later.
 */
export async function tidyProject(work: Work, projectId: number, signal?: AbortSignal): Promise<void> {
  const wait = await beginTidying(work, projectId);
  if (wait === null) return;
  if (wait > 0) return queueTidying(work, projectId, wait);
  const start = performance.now();
  const dir = repositoryOf(work, { id: projectId });
  try {
    await removeStaleLocks(dir, staleAfter);
    // What a push that is still open has done is read from the logs, however long ago that was.
    const keepLogs = (await sqlOne(work.em, openPush, [projectId])) !== null;
    const { bytes, packs } = await tidyRepository(dir, { timeLimitMs, signal, keepLogs });
    await sql(work.em, 'update projects set repository_size = $2 where id = $1', [projectId, bytes]);
    const ms = Math.round(performance.now() - start);
    work.log.debug({ project: projectId, bytes, packs, ms }, 'tidied a repository');
  } catch (error) {
    if (signal?.aborted) return await queueTidying(work, projectId, betweenTidiesSeconds);
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, project: projectId }, 'a repository could not be tidied');
  }
}
