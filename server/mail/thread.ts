import type { Letter } from './news.ts';
import { projectHeaders, type Sender } from './place-letters.ts';

/** What all messages about one thing have in common. */
export interface Thread {
  project: { id: number; name: string; full_path: string };
  /** Part of the ids of messages: unique in the instance, and never another thing's. */
  name: string;
  /** With the number by which people know it, such as `It is broken (#12)`. */
  subject: string;
  /** The header by which mail is sorted, after `X-GitLab-`, and its value. */
  sorting: [header: string, value: string];
  /** Where it is shown, in the project. */
  path: string;
}

/** The first message of a thread has an id that is known beforehand: those after it answer that one. */
export function firstLetter(
  thread: Thread,
  letter: Pick<Letter, 'fromName' | 'text'>,
  sender: Sender,
): Letter {
  return { ...letter, subject: subjectOf(thread), headers: headersOf(thread, sender), id: thread.name };
}

export function laterLetter(
  thread: Thread,
  letter: Pick<Letter, 'fromName' | 'text'>,
  sender: Sender,
): Letter {
  const first = `<${thread.name}@${sender.domain}>`;
  const headers = { ...headersOf(thread, sender), 'In-Reply-To': first, References: first };
  return { ...letter, subject: `Re: ${subjectOf(thread)}`, headers };
}

export function threadUrl({ project, path }: Thread, { baseUrl }: Sender): string {
  return `${baseUrl}/${project.full_path}/${path}`;
}

function subjectOf({ project, subject }: Thread): string {
  return `${project.name} | ${subject}`;
}

function headersOf({ project, sorting }: Thread, sender: Sender): Record<string, string> {
  const [header, value] = sorting;
  return { ...projectHeaders(project.id, project, sender), [`X-GitLab-${header}`]: value };
}
