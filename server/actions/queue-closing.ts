import type { Work } from '../services.ts';

/** A merge request that a push has merged, and who did. */
export interface Merged {
  mergeRequestId: number;
  userId: number;
}

export interface ClosingCause {
  pushId: number;
  merged: readonly Merged[];
}

/**
 * Has a task close what the commits of a push, and the merge requests that it has merged, say they close; of commits it
 * also tells where they are named. What a merge request closes is closed by that, and not by the push that it led to.
 */
export async function queueClosing(work: Work, by: ClosingCause): Promise<void> {
  await work.queue.add(work.em, 'close_issues', by);
}
