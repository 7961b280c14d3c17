import type { Work } from '../services.ts';
import { mayHear, mayRead } from './audience.ts';
import type { Happening } from './happening.ts';
import type { Letter } from './news.ts';
import { noteLetter } from './note-letters.ts';
import { noteableLetter } from './noteable-letters.ts';
import type { Sender } from './place-letters.ts';
import { topicOf } from './topic.ts';

/**
 * What somebody is told of a happening.
 *
 * @returns null when what it is about is gone, or none of his business any more.
 */
export async function happeningLetter(
  work: Work,
  { happening, userId }: { happening: Happening; userId: number },
  sender: Sender,
): Promise<Letter | null> {
  const topic = await topicOf(work.em, happening);
  if (!topic || !(await mayHear(work, topic, userId))) return null;
  if (topic.type === 'Snippet' || topic.type === 'Commit') return noteLetter(work, topic, sender);
  const { kind } = happening;
  const goesOn = kind === 'moved' ? ({ type: 'Issue', id: happening.newId, note: null } as const) : null;
  // Where it went may be a place that he is not to know.
  const shownId = goesOn && (await mayRead(work, goesOn, userId)) ? goesOn.id : null;
  return noteableLetter(work, { topic, happening, shownId }, sender);
}
