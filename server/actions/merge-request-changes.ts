import { announceNoteable } from '../hooks/announce-noteable.ts';
import { tellPeople } from '../mail/happening.ts';
import { changeNotes } from '../policy/change-notes.ts';
import type { MergeRequestState } from '../queries/merge-request-row.ts';
import { type HeldNoteable, holdStatement } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { noteReferences } from './note-references.ts';
import { recordEvent } from './record-event.ts';
import { setLabels } from './set-labels.ts';
import type { Heads } from './take-heads.ts';
import { writeSystemNotes } from './write-system-notes.ts';

/** A merge request that nobody else changes until the transaction ends. */
export interface HeldMergeRequest extends HeldNoteable {
  target_branch: string;
  state: MergeRequestState;
}

/** Waits for whoever changes the merge request. @returns null when it is gone. */
export async function holdMergeRequest({ em }: Work, id: number): Promise<HeldMergeRequest | null> {
  return sqlOne<HeldMergeRequest>(em, hold, [id]);
}

const hold = holdStatement('MergeRequest', ['target_branch', 'state']);

/** What is told of a new state, besides the note. */
const happenings = {
  closed: { event: 'closed', action: 'close', kind: 'closed' },
  reopened: { event: 'opened', action: 'reopen', kind: 'reopened' },
  merged: { event: 'accepted', action: 'merge', kind: 'merged' },
} as const;

export interface StateChange {
  mergeRequest: Pick<HeldMergeRequest, 'id' | 'project_id' | 'title'>;
  state: keyof typeof happenings;
  userId: number;
}

/**
 * Closes a merge request, opens it again or says that it is merged, with what follows: a note, a line of the project's
 * activity, messages to hooks and to people. Nobody waits for a build of it any more.
 */
export async function changeMergeRequestState(
  work: Work,
  { mergeRequest, state, userId }: StateChange,
): Promise<void> {
  const { id, project_id: projectId, title } = mergeRequest;
  const { event, action, kind } = happenings[state];
  const noteable = { type: 'MergeRequest', id } as const;
  const bodies = [`Status changed to ${state}`];
  await writeSystemNotes(work, { projectId, authorId: userId, noteable, bodies });
  await sql(work.em, setState, [id, state, userId]);
  const target = { targetType: 'MergeRequest', targetId: id, targetTitle: title };
  await recordEvent(work, { projectId, authorId: userId, action: event, ...target });
  await announceNoteable(work, { ...noteable, action, userId });
  await tellPeople(work, { kind, ...noteable, by: userId });
}

const setState = `update merge_requests set state = $2, updated_by_id = $3, updated_at = now(),
  merge_when_build_succeeds = false where id = $1`;

export interface Saving {
  before: HeldMergeRequest;
  after: HeldMergeRequest;
  userId: number;
}

/** Has it be about these commits, and another target branch maybe, for whose sake nobody waits for a build any more. */
export async function saveHeads(work: Work, { id, target_branch }: HeldMergeRequest, heads: Heads) {
  await sql(work.em, writeHeads, [id, target_branch, heads.headSha, heads.baseSha]);
}

const writeHeads = `update merge_requests set target_branch = $2, head_sha = $3, base_sha = $4,
  merge_status = 'unchecked', checked_source_sha = null, checked_target_sha = null, merge_when_build_succeeds = false
  where id = $1`;

/** Writes what has changed, with the notes that tell of it. */
export async function saveChanges(work: Work, { before, after, userId }: Saving): Promise<void> {
  const { id, project_id: projectId, title, description, assignee, milestone } = after;
  const noteable = { type: 'MergeRequest', id } as const;
  const bodies = changeNotes(factsOf(before), factsOf(after));
  await writeSystemNotes(work, { projectId, authorId: userId, noteable, bodies });
  const isReworded = title !== before.title || description !== before.description;
  const isReassigned = assignee?.id !== before.assignee?.id;
  const isMoved = after.target_branch !== before.target_branch;
  if (isReworded || isReassigned || milestone?.id !== before.milestone?.id || isMoved) {
    const given = [title, description, assignee?.id ?? null, milestone?.id ?? null];
    // After the notes, with which it counts as changed now.
    await sql(work.em, save, [id, ...given, userId]);
  }
  if (isReworded) {
    const source = { ...noteable, projectId };
    await noteReferences(work, { authorId: userId, source, noteId: null, texts: [title, description] });
  }
  if (isReassigned) {
    const previousAssigneeId = before.assignee?.id ?? null;
    await tellPeople(work, { kind: 'reassigned', ...noteable, previousAssigneeId, by: userId });
  }
}

const save = `update merge_requests set title = $2, description = $3, assignee_id = $4, milestone_id = $5,
  updated_by_id = $6, updated_at = now() where id = $1`;

function factsOf({ title, description, assignee, milestone, target_branch }: HeldMergeRequest) {
  return {
    title,
    description,
    assignee: assignee?.username ?? null,
    milestoneIid: milestone?.iid ?? null,
    targetBranch: target_branch,
  };
}

/** Gives it these labels and no others. */
export async function replaceLabels(
  work: Work,
  { id, labels, userId }: { id: number; labels: readonly number[]; userId: number },
): Promise<void> {
  const noteable = { type: 'MergeRequest', id } as const;
  const { added } = await setLabels(work, noteable, labels);
  if (added.length === 0) return;
  await tellPeople(work, { kind: 'labelled', ...noteable, labelIds: added, by: userId });
}
