import { announceNoteable } from '../hooks/announce-noteable.ts';
import { isOpen } from '../policy/merge-request.ts';
import { holdHeadPipelineStatus, holdMergeFacts, type MergeFacts } from '../queries/merge-facts.ts';
import { mergeWhenReady } from '../queries/merge-tasks.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql } from '../sql.ts';
import type { Acceptance } from './accept-merge-request.ts';
import { writeSystemNotes } from './write-system-notes.ts';

/**
 * Has a merge request merged by itself once the pipeline of its commits has succeeded, if that is still to end.
 *
 * @param work outside a transaction.
 * @param seen what the wish was judged by.
 * @returns `now` when there is nothing to wait for, `again` when the request is not what was judged any more.
 */
export async function waitForBuild(
  work: Work,
  wish: Acceptance,
  seen: MergeFacts,
): Promise<'waits' | 'now' | 'again'> {
  return inTransaction(work, async (inner) => {
    const row = await holdMergeFacts(inner.em, seen.id);
    if (!row || !isOpen(row) || row.head_sha !== seen.head_sha) return 'again';
    // Held, so that it cannot succeed in between without hearing of the wish.
    const status = await holdHeadPipelineStatus(inner.em, row);
    if (status !== 'pending' && status !== 'running') return 'now';
    const { viewer, message = null, removesSourceBranch = false } = wish;
    await sql(inner.em, set, [row.id, viewer.id, message, removesSourceBranch]);
    const text = `Enabled an automatic merge when the build for ${row.head_sha} succeeds`;
    await tell(inner, row, { userId: viewer.id, bodies: row.merge_when_build_succeeds ? [] : [text] });
    return 'waits';
  });
}

const set = `
  update merge_requests set merge_when_build_succeeds = true, merge_user_id = $2, merge_message = $3,
    removes_source_branch = $4, updated_at = now() where id = $1`;

/** @param work inside a transaction that holds the row. */
export async function stopWaiting(work: Work, row: MergeFacts, userId: number): Promise<void> {
  await sql(work.em, unset, [row.id]);
  await tell(work, row, { userId, bodies: ['Canceled the automatic merge'] });
}

const unset = `
  update merge_requests set merge_when_build_succeeds = false, merge_user_id = null, merge_message = null,
    removes_source_branch = false, updated_at = now() where id = $1`;

async function tell(
  work: Work,
  { id, project_id: projectId }: MergeFacts,
  { userId, bodies }: { userId: number; bodies: string[] },
): Promise<void> {
  const noteable = { type: 'MergeRequest', id } as const;
  await writeSystemNotes(work, { projectId, authorId: userId, noteable, bodies });
  await announceNoteable(work, { ...noteable, action: 'update', userId });
}

/** Has a task look whether what is wished for can be done now: what was in its way may have changed. */
export async function lookAgain({ em }: Work, mergeRequestId: number): Promise<void> {
  await sql(em, look, [mergeRequestId]);
}

const look = `
  select ${mergeWhenReady} from merge_requests t where t.id = $1 and t.merge_when_build_succeeds`;
