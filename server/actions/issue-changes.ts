import { announceNoteable } from '../hooks/announce-noteable.ts';
import { tellPeople } from '../mail/happening.ts';
import { type HeldNoteable, holdStatement } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import type { ReferenceSource } from './note-references.ts';
import { recordEvent } from './record-event.ts';
import { writeSystemNotes } from './write-system-notes.ts';

/** An issue that nobody else changes until the transaction ends. */
export interface HeldIssue extends HeldNoteable {
  state: 'opened' | 'closed';
  moved_to_id: number | null;
}

/** Waits for whoever changes the issue. @returns null when it is gone. */
export async function holdIssue({ em }: Work, id: number): Promise<HeldIssue | null> {
  return sqlOne<HeldIssue>(em, hold, [id]);
}

const hold = holdStatement('Issue', ['state', 'moved_to_id']);

export interface StateChange {
  issue: HeldIssue;
  state: 'opened' | 'closed';
  userId: number;
  /** What the note says after the state, such as ` by merge request !1`. */
  reason?: string;
  /** What the reason names, where only who may see that may read the note. */
  reference?: ReferenceSource | null;
}

/**
 * Closes an issue or opens it again, with what follows: a note, a line of the project's activity, messages to hooks
 * and to people. One that has the state already stays as it is.
 *
 * @returns whether that changed anything.
 */
export async function changeIssueState(work: Work, change: StateChange): Promise<boolean> {
  const { issue, state, userId, reason = '', reference = null } = change;
  if (issue.state === state) return false;
  const { id, project_id: projectId, title } = issue;
  const isClosed = state === 'closed';
  await writeSystemNotes(work, {
    projectId,
    authorId: userId,
    noteable: { type: 'Issue', id },
    bodies: [stateNote(state, reason)],
    reference,
  });
  await sql(work.em, setState, [id, state, userId]);
  const target = { targetType: 'Issue', targetId: id, targetTitle: title };
  await recordEvent(work, { projectId, authorId: userId, action: isClosed ? 'closed' : 'opened', ...target });
  await announceNoteable(work, { type: 'Issue', id, action: isClosed ? 'close' : 'reopen', userId });
  await tellPeople(work, { kind: isClosed ? 'closed' : 'reopened', type: 'Issue', id, by: userId });
  return true;
}

/** @param reason as of a change. */
export function stateNote(state: 'opened' | 'closed', reason: string): string {
  return `Status changed to ${state === 'closed' ? 'closed' : 'reopened'}${reason}`;
}

const setState = 'update issues set state = $2, updated_by_id = $3, updated_at = now() where id = $1';
