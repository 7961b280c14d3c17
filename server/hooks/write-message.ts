import { translateDatabaseError } from '../database-errors.ts';
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

/** A message as JSON, or why there is none. */
export type Written = { body: string; fault: null } | { body: null; fault: string };

/**
 * Writes the message to a hook. One that cannot be written is logged, and must not hold up those after it.
 *
 * @throws what is no fault of the message: while the database is away, or the disk full.
 */
export async function writeMessage(work: Work, row: DeliveryRow): Promise<Written> {
  try {
    const body = await jsonOf(work, row);
    return body === null ? { body, fault: 'what it was about is gone' } : { body, fault: null };
  } catch (error) {
    if (translateDatabaseError(error)?.status === 503) throw error;
    work.log.error(
      { err: error, hook: row.hook_id, delivery: row.id },
      'a message to a hook was not written',
    );
    return { body: null, fault: 'the message could not be written' };
  }
}

async function jsonOf(work: Work, row: DeliveryRow): Promise<string | null> {
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
