import type { JobEnvironment } from '../executor/executor.ts';
import { withAttempts } from './attempts.ts';
import { cacheFile, cacheKey, fallbackKey, restoreCache, saveCache, wantsCache } from './cache.ts';
import { attemptsVariable } from './control-variables.ts';
import { inSection, type Job } from './job.ts';
import { type ArchiveInput, attempts, selection } from './steps.ts';
import type { Section } from './trace-text.ts';

/** Unpacks what an earlier build kept, or the cache that stands in for it. */
export async function restoreCacheStep(job: Job, environment: JobEnvironment): Promise<void> {
  await withCache(job, 'restore_cache', async (key) => {
    const { variables, warn } = job;
    const count = attemptsVariable({ variables, key: 'RESTORE_CACHE_ATTEMPTS', warn });
    const keys = [key, fallbackKey(variables)].filter((each) => each !== null);
    for (const each of new Set(keys)) {
      const file = cacheFile(job.request.directories.cache, each, variables);
      const isFound = await withAttempts(attempts(job, count), () =>
        restoreCache(file, environment, job.signal),
      );
      await job.notice(isFound ? `Restored cache ${each}` : `There is no cache ${each} yet`);
      if (isFound) return;
    }
  });
}

export async function saveCacheStep(job: Job, input: ArchiveInput): Promise<void> {
  await withCache(job, 'archive_cache', async (key) => {
    const { build, variables, signal, request, warn } = job;
    const files = selection(job, input, build.options.cache ?? {});
    if (await files.isEmpty()) return warn('No files to keep: none of the paths of the cache matches');
    const file = cacheFile(request.directories.cache, key, variables);
    const isKept = await saveCache({ file, files, signal });
    if (isKept) await job.notice(`Saved cache ${key}`);
    else warn(`cache ${key} is not kept: it is larger than the caches of a project may be`);
  });
}

/** Best effort: a cache never fails a job. */
async function withCache(job: Job, name: Section, action: (key: string) => Promise<void>): Promise<void> {
  const { build, variables, signal, warn } = job;
  if (!wantsCache(build.options)) return;
  await inSection(job, name, async () => {
    try {
      const key = cacheKey(build, variables);
      if (key === null) return warn('The key of the cache is empty, so there is none');
      await action(key);
    } catch (error) {
      signal.throwIfAborted();
      const deed = name === 'restore_cache' ? 'restored' : 'saved';
      warn(`The cache cannot be ${deed}: ${(error as Error).message}`);
    }
  });
}
