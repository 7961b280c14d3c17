import { randomUUID } from 'node:crypto';
import type { NoteableType } from '../queries/noteable.ts';
import type { Work } from '../services.ts';

/** What is mailed to those whom it concerns. `by` is the user who did it, who is not told. */
export type Happening = { by: number } & (
  | { kind: 'opened' | 'closed' | 'reopened'; type: NoteableType; id: number }
  | { kind: 'merged'; type: 'MergeRequest'; id: number }
  | { kind: 'reassigned'; type: NoteableType; id: number; previousAssigneeId: number | null }
  | { kind: 'labelled'; type: NoteableType; id: number; labelIds: number[] }
  /** `id` is the old issue, closed by that. */
  | { kind: 'moved'; type: 'Issue'; id: number; newId: number }
  | { kind: 'note'; noteId: number }
);

/**
 * Has a task tell everybody whom it concerns, once the transaction of `work` is committed. Where no mail server is set,
 * nothing is queued.
 */
export async function tellPeople(work: Work, happening: Happening): Promise<void> {
  if (!work.mail) return;
  await work.queue.add(work.em, 'notify', { happening, id: randomUUID() });
}
