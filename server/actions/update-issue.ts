import { notFound } from '../errors.ts';
import { announceNoteable } from '../hooks/announce-noteable.ts';
import { tellPeople } from '../mail/happening.ts';
import { changeNotes } from '../policy/change-notes.ts';
import { can, canSetTimes } from '../policy/project.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { changeIssueState, type HeldIssue, holdIssue } from './issue-changes.ts';
import { labelIds } from './label-ids.ts';
import { noteReferences } from './note-references.ts';
import { findChoices } from './noteable-choices.ts';
import { setLabels } from './set-labels.ts';
import { writeSystemNotes } from './write-system-notes.ts';

export interface IssueChange {
  title: string | undefined;
  description: string | undefined;
  /** Ids, 0 for none; counted only from those who may give issues to people and to milestones. */
  assigneeId: number | undefined;
  milestoneId: number | undefined;
  /** Titles of all labels that it shall have; counted only from the same. */
  labels: readonly string[] | undefined;
  stateEvent: 'close' | 'reopen' | undefined;
  /** Counted only from those who may say so. */
  updatedAt: Date | undefined;
}

interface Request {
  viewer: Viewer;
  project: ProjectScope;
  issueId: number;
  change: IssueChange;
}

/**
 * Changes what is given and leaves the rest, the state first; with what follows: notes, mentions, a line of the
 * project's activity, messages to hooks and to people.
 *
 * @throws AppError 404 when the issue is gone, 400 for labels that cannot be or an assignee that there is not.
 */
export async function updateIssue(work: Work, request: Request): Promise<void> {
  const { viewer, project, issueId } = request;
  const issue = await holdIssue(work, issueId);
  if (!issue) throw notFound();
  const change = countedOf(request);
  // What is wrong with the rest is told before anything is done.
  const after = { ...issue, ...(await changedOf(work, project.id, change)) };
  const labels = change.labels && (await labelIds(work, project.id, change.labels));
  if (change.stateEvent) {
    const state = change.stateEvent === 'close' ? 'closed' : 'opened';
    await changeIssueState(work, { issue, state, userId: viewer.id });
  }
  await saveChanges(work, { before: issue, after, userId: viewer.id, updatedAt: change.updatedAt });
  if (labels) await replaceLabels(work, { issueId, labels, userId: viewer.id });
  const { stateEvent, ...rest } = change;
  if (Object.values(rest).some((value) => value !== undefined)) {
    await announceNoteable(work, { type: 'Issue', id: issueId, action: 'update', userId: viewer.id });
  }
}

/** The change without what the viewer has no right to. */
function countedOf({ viewer, project, change }: Request): IssueChange {
  const updatedAt = canSetTimes(viewer, project) ? change.updatedAt : undefined;
  if (can(viewer, project, 'admin_issue')) return { ...change, updatedAt };
  return { ...change, assigneeId: undefined, milestoneId: undefined, labels: undefined, updatedAt };
}

async function changedOf(
  work: Work,
  projectId: number,
  { title, description, assigneeId, milestoneId }: IssueChange,
): Promise<Partial<HeldIssue>> {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(await findChoices(work, { projectId, assigneeId, milestoneId })),
  };
}

interface Saving {
  before: HeldIssue;
  after: HeldIssue;
  userId: number;
  updatedAt: Date | undefined;
}

async function saveChanges(work: Work, { before, after, userId, updatedAt }: Saving): Promise<void> {
  const { id, project_id: projectId } = after;
  const noteable = { type: 'Issue', id } as const;
  const bodies = changeNotes(factsOf(before), factsOf(after));
  await writeSystemNotes(work, { projectId, authorId: userId, noteable, bodies });
  const isReworded = after.title !== before.title || after.description !== before.description;
  const isReassigned = after.assignee?.id !== before.assignee?.id;
  if (isReworded || isReassigned || after.milestone?.id !== before.milestone?.id || updatedAt) {
    const { title, description, assignee, milestone } = after;
    const given = [title, description, assignee?.id ?? null, milestone?.id ?? null];
    // After the notes, with which it counts as changed now.
    await sql(work.em, save, [id, ...given, userId, updatedAt ?? null]);
  }
  if (isReworded) {
    const texts = [after.title, after.description];
    await noteReferences(work, { authorId: userId, source: { ...noteable, projectId }, noteId: null, texts });
  }
  if (isReassigned) {
    const previousAssigneeId = before.assignee?.id ?? null;
    await tellPeople(work, { kind: 'reassigned', ...noteable, previousAssigneeId, by: userId });
  }
}

const save = `update issues set title = $2, description = $3, assignee_id = $4, milestone_id = $5, updated_by_id = $6,
  updated_at = coalesce($7::timestamptz, now()) where id = $1`;

function factsOf({ title, description, assignee, milestone }: HeldIssue) {
  return {
    title,
    description,
    assignee: assignee?.username ?? null,
    milestoneIid: milestone?.iid ?? null,
  };
}

async function replaceLabels(
  work: Work,
  { issueId, labels, userId }: { issueId: number; labels: readonly number[]; userId: number },
): Promise<void> {
  const { added } = await setLabels(work, { type: 'Issue', id: issueId }, labels);
  if (added.length === 0) return;
  await tellPeople(work, { kind: 'labelled', type: 'Issue', id: issueId, labelIds: added, by: userId });
}
