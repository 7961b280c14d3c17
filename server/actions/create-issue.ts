import { notFound } from '../errors.ts';
import { announceNoteable } from '../hooks/announce-noteable.ts';
import { tellPeople } from '../mail/happening.ts';
import { can, canSetTimes } from '../policy/project.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { labelIds } from './label-ids.ts';
import { noteReferences } from './note-references.ts';
import { type Choices, findChoices } from './noteable-choices.ts';
import { recordEvent } from './record-event.ts';
import { setLabels } from './set-labels.ts';

export interface NewIssue {
  viewer: Viewer;
  project: ProjectScope;
  title: string;
  description: string | undefined;
  /** Ids; counted only from those who may give issues to people and to milestones. */
  assigneeId: number | undefined;
  milestoneId: number | undefined;
  /** Titles; labels that the project lacks are made. */
  labels: readonly string[];
  /** Counted only from those who may say so. */
  createdAt: Date | undefined;
}

/**
 * Adds an issue under the next number of its project, with what follows: mentions, a line of the project's activity,
 * messages to hooks and to people.
 *
 * @returns its id.
 * @throws AppError 400 for labels that cannot be or an assignee that there is not, 404 when the project is gone.
 */
export async function createIssue(work: Work, issue: NewIssue): Promise<number> {
  const { viewer, project, title, description } = issue;
  // Before the project's row is held, on which all its other new issues wait.
  const labels = await labelIds(work, project.id, issue.labels);
  const id = await insertIssue(work, issue, await givenTo(work, issue));
  if (labels.length > 0) await setLabels(work, { type: 'Issue', id }, labels);
  const source = { type: 'Issue', projectId: project.id, id } as const;
  const texts = [title, description ?? null];
  await noteReferences(work, { authorId: viewer.id, source, noteId: null, texts });
  const target = { targetType: 'Issue', targetId: id, targetTitle: title };
  await recordEvent(work, { projectId: project.id, authorId: viewer.id, action: 'opened', ...target });
  await announceNoteable(work, { type: 'Issue', id, action: 'open', userId: viewer.id });
  await tellPeople(work, { kind: 'opened', type: 'Issue', id, by: viewer.id });
  return id;
}

async function givenTo(
  work: Work,
  { viewer, project, assigneeId, milestoneId }: NewIssue,
): Promise<Partial<Choices>> {
  if (!can(viewer, project, 'admin_issue')) return {};
  return findChoices(work, { projectId: project.id, assigneeId, milestoneId });
}

async function insertIssue(
  { em }: Work,
  { viewer, project, title, description, createdAt }: NewIssue,
  { assignee, milestone }: Partial<Choices>,
): Promise<number> {
  const row = await sqlOne<{ id: number }>(em, insert, [
    ...[project.id, title, description ?? null, viewer.id, assignee?.id ?? null, milestone?.id ?? null],
    canSetTimes(viewer, project) ? (createdAt ?? null) : null,
  ]);
  if (!row) throw notFound('Project');
  return row.id;
}

const insert = `
  with numbered as (
    update projects set last_issue_iid = last_issue_iid + 1 where id = $1 and not pending_delete
    returning id, last_issue_iid
  )
  insert into issues (project_id, iid, title, description, author_id, assignee_id, milestone_id, created_at)
  select id, last_issue_iid, $2, $3, $4, $5, $6, coalesce($7::timestamptz, now()) from numbered
  returning id`;
