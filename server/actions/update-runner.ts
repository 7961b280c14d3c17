import { Runner } from '../entities/runner.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { wakeupChannel } from '../wakeups.ts';
import { given } from './given.ts';
import { requireTags } from './register-runner.ts';

export interface RunnerChange {
  description?: string | undefined;
  active?: boolean | undefined;
  tag_list?: string[] | undefined;
  run_untagged?: boolean | undefined;
}

/**
 * Changes what is given and leaves the rest. A waiting runner asks again with its new tags at once.
 *
 * @throws AppError 400 when it would take neither tagged nor untagged builds.
 */
export async function updateRunner(work: Work, id: number, change: RunnerChange): Promise<void> {
  const runner = await work.em.findOneOrFail(Runner, { id });
  const { description, active, tag_list: tagList, run_untagged: runUntagged } = change;
  requireTags(tagList ?? runner.tagList, runUntagged ?? runner.runUntagged);
  await work.em.nativeUpdate(Runner, { id }, given({ description, active, tagList, runUntagged }));
  await tellRunner(work, id);
}

/** Makes a waiting runner look again. */
export async function tellRunner(work: Work, id: number): Promise<void> {
  await sql(work.em, 'select pg_notify($1, $2)', [wakeupChannel, JSON.stringify({ runner: id })]);
}
