import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

/** A repository is tidied after so many pushes, or when the first of fewer is so old; each at most hourly. */
const pushesUntilTidy = 10;
const patienceSeconds = 86_400;
export const betweenTidiesSeconds = 3600;

interface Count {
  pushes: number;
  /** Seconds until the repository may be tidied. */
  wait: number;
  default_branch: string | null;
}

/**
 * Notes a push that moved refs, and has the repository tidied when it is time.
 *
 * @param work inside a transaction, which holds the row of the project from then on.
 * @returns the default branch as it is while the row is held; null without one.
 */
export async function notePush(work: Work, projectId: number): Promise<string | null> {
  const count = await sqlOne<Count>(work.em, countPush, [projectId, betweenTidiesSeconds]);
  if (!count) return null;
  if (count.pushes % pushesUntilTidy === 0) await queueTidying(work, projectId, count.wait);
  else if (count.pushes === 1) await queueTidying(work, projectId, patienceSeconds);
  return count.default_branch;
}

const countPush = `
  update projects set last_activity_at = now(), pushes_since_tidy = pushes_since_tidy + 1 where id = $1
  returning default_branch, pushes_since_tidy as pushes,
    greatest(0, $2 - coalesce(extract(epoch from now() - tidied_at), $2))::float8 as wait`;

/** Has it tidied once, however often it was asked for before. */
export function queueTidying({ em, queue }: Work, projectId: number, delaySeconds: number): Promise<void> {
  return queue.add(
    em,
    'tidy_repository',
    { projectId },
    { delaySeconds, key: `tidy_repository:${projectId}` },
  );
}

/**
 * Takes the right to tidy a repository. It is given once in an hour, which also keeps others from it meanwhile.
 *
 * @returns how many seconds to wait for it; 0 with the right, null when the project is gone.
 */
export async function beginTidying({ em }: Work, projectId: number): Promise<number | null> {
  const begun = await sql(em, begin, [projectId, betweenTidiesSeconds]);
  if (begun.length > 0) return 0;
  const row = await sqlOne<{ wait: number }>(em, timeLeft, [projectId, betweenTidiesSeconds]);
  return row?.wait ?? null;
}

const begin = `
  update projects set tidied_at = now(), pushes_since_tidy = 0
  where id = $1 and not pending_delete
    and (tidied_at is null or tidied_at <= now() - make_interval(secs => $2)) returning id`;

const timeLeft = `
  select greatest(1, $2 - extract(epoch from now() - coalesce(tidied_at, now())))::float8 as wait
  from projects where id = $1 and not pending_delete`;
