import type { Work } from '../services.ts';

/** A push, or the merge of a merge request with whoever did it. */
export type ClosingCause = { pushId: number } | { mergeRequestId: number; userId: number };

/**
 * Has a task close what the commits of a push, or a merge request that was merged, say they close; of commits it also
 * tells where they are named. Those of one project come one after the other, so that what a merge request closes is
 * closed by that, and not by the push that it led to, provided that it is queued first.
 *
 * @param projectId the project of the push, or the one that the merge request goes to.
 */
export async function queueClosing(work: Work, projectId: number, by: ClosingCause): Promise<void> {
  const key = 'pushId' in by ? `push:${by.pushId}` : `merge_request:${by.mergeRequestId}`;
  const options = { key: `close_issues:${key}`, queueName: `close_issues:${projectId}` };
  await work.queue.add(work.em, 'close_issues', by, options);
}
