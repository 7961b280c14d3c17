import type { Work } from '../services.ts';

/** By then it has mostly been done by whoever merged. */
const firstLookSeconds = 20;

/** Sees to it that `removeSourceBranch` is done, whatever becomes of this process after the transaction. */
export async function queueRemoval({ em, queue }: Work, mergeRequestId: number): Promise<void> {
  const options = { delaySeconds: firstLookSeconds, key: removalKey(mergeRequestId) };
  await queue.add(em, 'remove_source_branch', { mergeRequestId }, options);
}

export function removalKey(mergeRequestId: number): string {
  return `remove_source_branch:${mergeRequestId}`;
}
