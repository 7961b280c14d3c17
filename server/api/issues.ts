import { createIssue } from '../actions/create-issue.ts';
import { deleteIssue } from '../actions/delete-issue.ts';
import { updateIssue } from '../actions/update-issue.ts';
import { notFound } from '../errors.ts';
import { onIssue, onIssueToUpdate, onProject, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { choice, integer, looseChoice, optional, pathId, text, timestamp, words } from '../http/params.ts';
import { IssueJson, presentIssue } from '../present/issue.ts';
import { findIssue, type IssueRow } from '../queries/issue-row.ts';
import { issueOrders, listAuthoredIssues, listProjectIssues } from '../queries/issues.ts';
import type { Work } from '../services.ts';

/** What every list of issues can be narrowed and ordered by. */
const filters = {
  state: looseChoice(['opened', 'closed']),
  labels: optional(words()),
  order_by: looseChoice(issueOrders),
  sort: looseChoice(['asc', 'desc']),
};

const listOwn = endpoint({
  method: 'GET',
  path: '/issues',
  summary: 'Issues that the caller wrote, in all projects that he can see',
  access: signedIn(),
  params: filters,
  returns: IssueJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const issues = await paginate<IssueRow>(work.em, listAuthoredIssues(viewer, params), page);
    return issues.map((row) => presentIssue(row, work.origin));
  },
});

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/issues',
  summary: 'Issues of a project; `labels` asks for those that have one of them or more',
  access: onProject('read_issue'),
  params: { iid: optional(integer()), ...filters, milestone: optional(text({ max: 255 })) },
  returns: IssueJson,
  list: true,
  async run({ viewer, project, params, page, work }) {
    const issues = await paginate<IssueRow>(work.em, listProjectIssues(viewer, project.id, params), page);
    return issues.map((row) => presentIssue(row, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_id',
  summary: 'One issue',
  access: onIssue('read_issue'),
  params: { issue_id: pathId() },
  returns: IssueJson,
  async run({ issue, work }) {
    return presentIssue(issue, work.origin);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/issues',
  summary: 'Adds an issue',
  access: onProject('create_issue'),
  paramsFirst: true,
  params: {
    title: text({ max: 255 }),
    description: optional(text()),
    assignee_id: optional(integer()),
    milestone_id: optional(integer()),
    labels: optional(words()),
    created_at: optional(timestamp()),
  },
  status: 200,
  creates: true,
  returns: IssueJson,
  async run({ viewer, project, params, work }) {
    const id = await createIssue(work, {
      viewer,
      project,
      title: params.title.trim(),
      description: params.description,
      assigneeId: params.assignee_id,
      milestoneId: params.milestone_id,
      labels: params.labels ?? [],
      createdAt: params.created_at,
    });
    return presentOne(work, { viewerId: viewer.id, projectId: project.id, id });
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_id',
  summary: 'Changes what is given of an issue; its state comes first',
  access: onIssueToUpdate(),
  params: {
    issue_id: pathId(),
    title: optional(text({ max: 255 })),
    description: optional(text()),
    assignee_id: optional(integer()),
    milestone_id: optional(integer()),
    // An empty text takes all labels away.
    labels: optional({ ...words(), keepBlank: true }),
    state_event: optional(choice(['close', 'reopen'])),
    updated_at: optional(timestamp()),
  },
  returns: IssueJson,
  async run({ viewer, project, issue, params, work }) {
    const change = {
      title: params.title?.trim(),
      description: params.description,
      assigneeId: params.assignee_id,
      milestoneId: params.milestone_id,
      labels: params.labels,
      stateEvent: params.state_event,
      updatedAt: params.updated_at,
    };
    await updateIssue(work, { viewer, project, issueId: issue.id, change });
    return presentOne(work, { viewerId: viewer.id, projectId: project.id, id: issue.id });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/issues/:issue_id',
  summary: 'Takes an issue away for everybody; to those who may not it is not there',
  access: onIssue('delete_issue'),
  params: { issue_id: pathId() },
  returns: IssueJson,
  async run({ issue, work }) {
    await deleteIssue(work, issue.id);
    return presentIssue(issue, work.origin);
  },
});

export const endpoints: Endpoint[] = [listOwn, list, get, create, update, remove];

/** @throws AppError 404 when there is none. */
export async function presentOne(work: Work, place: { viewerId: number; projectId: number; id: number }) {
  const issue = await findIssue(work.em, place);
  if (!issue) throw notFound();
  return presentIssue(issue, work.origin);
}
