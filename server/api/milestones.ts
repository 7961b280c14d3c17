import { createMilestone, updateMilestone } from '../actions/milestones.ts';
import { notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { choice, integer, looseChoice, optional, pathId, text } from '../http/params.ts';
import { authorize } from '../policy/project.ts';
import { IssueJson, presentIssue } from '../present/issue.ts';
import { MilestoneJson, presentMilestone } from '../present/milestone.ts';
import type { IssueRow } from '../queries/issue-row.ts';
import { listMilestoneIssues } from '../queries/issues.ts';
import type { MilestoneRow } from '../queries/milestone-row.ts';
import { findMilestone, listMilestones, milestoneStates } from '../queries/milestones.ts';
import type { Work } from '../services.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/milestones',
  summary: 'Milestones of the project, newest first',
  access: onProject('read_milestone'),
  params: { iid: optional(integer()), state: looseChoice(milestoneStates) },
  returns: MilestoneJson,
  list: true,
  async run({ project, params, page, work }) {
    const query = listMilestones(project.id, params);
    return (await paginate<MilestoneRow>(work.em, query, page)).map(presentMilestone);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'One milestone',
  access: onProject('read_milestone'),
  params: { milestone_id: pathId() },
  returns: MilestoneJson,
  async run({ project, params, work }) {
    return presentMilestone(await requireMilestone(work, project.id, params.milestone_id));
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/milestones',
  summary: 'Makes a milestone',
  access: onProject('admin_milestone'),
  params: { title: text(), description: optional(text()), due_date: optional(text()) },
  returns: MilestoneJson,
  async run({ viewer, project, params: { due_date, ...given }, work }) {
    const place = { projectId: project.id, authorId: viewer.id };
    return presentMilestone(await createMilestone(work, place, { ...given, dueDate: due_date }));
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Changes a milestone, closes it or makes it active again',
  access: onProject('admin_milestone'),
  params: {
    milestone_id: pathId(),
    title: optional(text()),
    description: optional(text()),
    due_date: optional(text()),
    state_event: optional(choice(['close', 'activate'])),
  },
  returns: MilestoneJson,
  async run({ viewer, project, params, work }) {
    const { milestone_id: id, title, description, due_date: dueDate, state_event: stateEvent } = params;
    const place = { projectId: project.id, id, userId: viewer.id };
    const changed = await updateMilestone(work, place, { title, description, dueDate, stateEvent });
    if (!changed) throw notFound();
    return presentMilestone(changed);
  },
});

const issues = endpoint({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id/issues',
  summary: 'Issues of a milestone, open and closed ones, newest first',
  access: onProject('read_milestone'),
  params: { milestone_id: pathId() },
  returns: IssueJson,
  list: true,
  async run({ viewer, project, params, page, work }) {
    // There are milestones for merge requests alone.
    authorize(viewer, project, 'read_issue');
    const { id } = await requireMilestone(work, project.id, params.milestone_id);
    const rows = await paginate<IssueRow>(work.em, listMilestoneIssues(viewer, id), page);
    return rows.map((row) => presentIssue(row, work.origin));
  },
});

export const endpoints: Endpoint[] = [list, get, create, update, issues];

async function requireMilestone(work: Work, projectId: number, id: number): Promise<MilestoneRow> {
  const row = await findMilestone(work.em, projectId, id);
  if (!row) throw notFound();
  return row;
}
