import { isWorkInProgress, withoutWorkInProgress } from './work-in-progress.ts';

/** What is told of when it changes. */
export interface NoteableFacts {
  title: string;
  description: string | null;
  /** His user name; null where nobody has it. */
  assignee: string | null;
  milestoneIid: number | null;
  /** Of merge requests alone. */
  targetBranch?: string;
}

/** More than these at once are told by nobody's hand. */
const mostTasks = 50;

/** The texts of the notes that tell what became of an issue or merge request, in the order in which they are written. */
export function changeNotes(before: NoteableFacts, after: NoteableFacts): string[] {
  return [
    ...titleNotes(before, after),
    ...taskNotes(before.description ?? '', after.description ?? ''),
    ...assigneeNotes(before, after),
    ...milestoneNotes(before, after),
    ...targetNotes(before, after),
  ];
}

/** That a merge request is not ready is a note of its own, and no change of its title. */
function titleNotes(before: NoteableFacts, after: NoteableFacts): string[] {
  if (after.targetBranch === undefined) return renamed(before.title, after.title);
  const wasInProgress = isWorkInProgress(before.title);
  const isInProgress = isWorkInProgress(after.title);
  if (wasInProgress === isInProgress) return renamed(before.title, after.title);
  const note = isInProgress
    ? 'Marked this merge request as a **Work In Progress**'
    : 'Unmarked this merge request as a Work In Progress';
  return [note, ...renamed(withoutWorkInProgress(before.title), withoutWorkInProgress(after.title))];
}

function renamed(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, now] = [[...before], [...after]];
  const start = commonStart(old, now);
  const end = commonStart(old.slice(start).reverse(), now.slice(start).reverse());
  const marked = (text: string[], sign: string) => {
    const middle = text.slice(start, text.length - end).join('');
    const mark = middle && `{${sign}${middle}${sign}}`;
    return `${text.slice(0, start).join('')}${mark}${text.slice(text.length - end).join('')}`;
  };
  return [`Changed title: **${marked(old, '-')}** → **${marked(now, '+')}**`];
}

/** In characters, so that none is cut in two. */
function commonStart(one: string[], other: string[]): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one[at] === other[at]) at += 1;
  return at;
}

interface Task {
  text: string;
  isDone: boolean;
}

/** An item of a list that has a box to tick. */
const task = /^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+(\S.*)$/gm;

function tasksOf(description: string): Task[] {
  return Array.from(description.matchAll(task), ([, box = '', text = '']) => ({
    text: text.trimEnd(),
    isDone: box !== ' ',
  }));
}

/** Those that stand where they stood, with the same text. */
function taskNotes(before: string, after: string): string[] {
  if (before === after) return [];
  const old = tasksOf(before);
  return tasksOf(after)
    .filter(({ text, isDone }, index) => old[index]?.text === text && old[index].isDone !== isDone)
    .slice(0, mostTasks)
    .map(({ text, isDone }) => `Marked the task **${text}** as ${isDone ? 'completed' : 'incomplete'}`);
}

function assigneeNotes(before: NoteableFacts, after: NoteableFacts): string[] {
  if (before.assignee === after.assignee) return [];
  return [after.assignee === null ? 'Assignee removed' : `Reassigned to @${after.assignee}`];
}

function milestoneNotes(before: NoteableFacts, after: NoteableFacts): string[] {
  if (before.milestoneIid === after.milestoneIid) return [];
  return [after.milestoneIid === null ? 'Milestone removed' : `Milestone changed to %${after.milestoneIid}`];
}

function targetNotes(before: NoteableFacts, after: NoteableFacts): string[] {
  if (before.targetBranch === after.targetBranch || after.targetBranch === undefined) return [];
  return [`Target branch changed from \`${before.targetBranch}\` to \`${after.targetBranch}\``];
}
