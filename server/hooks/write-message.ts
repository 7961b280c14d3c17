import type { Work } from '../services.ts';
import type { DeliveryRow } from './attempt.ts';
import { type BuildState, buildMessage } from './build-message.ts';
import { noteMessage } from './note-message.ts';
import { type NoteableSubject, noteableMessage } from './noteable-message.ts';
import { pushMessage } from './push-message.ts';

/** What a message is about, as the statements that put it up wrote it down. */
type Subject =
  | { kind: 'push'; eventId: number }
  | { kind: 'note'; noteId: number }
  | ({ kind: 'build' } & BuildState)
  | NoteableSubject;

/** Writes the message to a hook. @returns JSON, or null when what it was about is gone. */
export async function writeMessage(work: Work, row: DeliveryRow): Promise<string | null> {
  if (row.subject === null) return null;
  const subject = JSON.parse(row.subject) as Subject;
  const message = await messageOf(work, subject, { isSystem: row.is_system });
  return message && JSON.stringify(message);
}

function messageOf(
  work: Work,
  subject: Subject,
  { isSystem }: { isSystem: boolean },
): Promise<Record<string, unknown> | null> {
  switch (subject.kind) {
    case 'push':
      return pushMessage(work, { eventId: subject.eventId, isSystem });
    case 'note':
      return noteMessage(work, subject.noteId);
    case 'build':
      return buildMessage(work, subject);
    default:
      return noteableMessage(work, subject);
  }
}
