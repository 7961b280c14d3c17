import { accessLevels, visibilityLevels } from '../../shared/access-level.ts';
import { notificationLevels } from '../../shared/notification-level.ts';
import { can, type ProjectFacts, type ViewerFacts } from '../policy/project.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { alone, audiences } from './audience-sql.ts';
import { commitOf } from './commit-of.ts';
import type { Happening } from './happening.ts';
import type { Topic } from './topic.ts';

/** Somebody who would be told, with what decides whether he may read what it is about. */
interface Person extends ViewerFacts, ProjectFacts {
  id: number;
  /** How visible the snippet is that it is about. */
  snippet_level: number | null;
  is_author: boolean | null;
}

/**
 * Users whom something concerns, who want to hear of it, and may read what it is about, in the order of their ids.
 * Whoever did it is not among them.
 */
export async function audienceOf(work: Work, topic: Topic, happening: Happening): Promise<number[]> {
  const people = await find(work, topic, happening);
  return people.filter((person) => reads(person, topic)).map(({ id }) => id);
}

const { disabled, participating, watch, mention } = notificationLevels;
const mailed = [participating, watch, mention];

/** Whether somebody may still be told: he can read it, and does not refuse the mail of the project or of this thing. */
export function mayHear(work: Work, topic: Topic, userId: number): Promise<boolean> {
  return isReader(work, topic, { userId, levels: mailed });
}

export function mayRead(work: Work, topic: Topic, userId: number): Promise<boolean> {
  return isReader(work, topic, { userId, levels: [disabled, ...mailed] });
}

async function isReader(
  { em }: Work,
  topic: Topic,
  { userId, levels }: { userId: number; levels: number[] },
): Promise<boolean> {
  const people = await sql<Person>(em, alone[topic.type], [...keyOf(topic), userId, levels]);
  return people.some((person) => reads(person, topic));
}

function keyOf(topic: Topic): [id: number, sha: string | null] {
  return topic.type === 'Commit' ? [topic.projectId, topic.sha] : [topic.id, null];
}

async function find(work: Work, topic: Topic, happening: Happening): Promise<Person[]> {
  const { em } = work;
  const key = [...keyOf(topic), happening.by];
  if (topic.type === 'Snippet') return sql(em, audiences.Snippet, [...key, topic.note.id]);
  if (topic.type === 'Commit') {
    const commit = await commitOf(work, topic);
    return sql(em, audiences.Commit, [...key, topic.note.id, commit?.emails ?? []]);
  }
  const texts = audiences[topic.type];
  if (happening.kind === 'note') return sql(em, texts.note, [...key, happening.noteId]);
  if (happening.kind === 'labelled') return sql(em, texts.labelled, [...key, happening.labelIds]);
  if (happening.kind === 'reassigned')
    return sql(em, texts.reassigned, [...key, happening.previousAssigneeId]);
  return sql(em, happening.kind === 'opened' ? texts.opened : texts.other, key);
}

const abilities = {
  Issue: 'read_issue',
  MergeRequest: 'read_merge_request',
  Snippet: 'read_snippet',
  Commit: 'read_code',
} as const;

function reads(person: Person, { type }: Topic): boolean {
  if (!can(person, person, abilities[type])) return false;
  return type !== 'Snippet' || person.is_admin || person.is_author === true || seesSnippet(person);
}

function seesSnippet({ snippet_level, external, viewer_level }: Person): boolean {
  if (snippet_level === visibilityLevels.public) return true;
  const isInside = !external || viewer_level >= accessLevels.guest;
  return snippet_level === visibilityLevels.internal && isInside;
}
