import { acceptMergeRequest } from '../actions/accept-merge-request.ts';
import { createMergeRequest } from '../actions/create-merge-request.ts';
import { deleteMergeRequest } from '../actions/delete-merge-request.ts';
import { checkMergeStatus } from '../actions/refresh-merge-request.ts';
import { updateMergeRequest } from '../actions/update-merge-request.ts';
import { badRequest, forbidden, notFound } from '../errors.ts';
import { onMergeRequest, onProject, onWholeProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { choice, integer, looseChoice, optional, pathId, text, words } from '../http/params.ts';
import { canUpdateMergeRequest } from '../policy/merge-request.ts';
import { MergeRequestJson, presentMergeRequest } from '../present/merge-request.ts';
import { findMergeRequest, type MergeRequestRow } from '../queries/merge-request-row.ts';
import { listMergeRequests, mergeRequestOrders } from '../queries/merge-requests.ts';
import type { Work } from '../services.ts';
import { onBothPaths } from './merge-request-paths.ts';
import { findTarget } from './merge-request-target.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests',
  summary: 'Merge requests into a project; `opened` are also those that were opened again',
  access: onProject('read_merge_request'),
  params: {
    iid: optional(integer()),
    state: looseChoice(['opened', 'closed', 'merged', 'all']),
    order_by: looseChoice(mergeRequestOrders),
    sort: looseChoice(['asc', 'desc']),
  },
  returns: MergeRequestJson,
  list: true,
  async run({ viewer, project, params, page, work }) {
    const query = listMergeRequests(viewer, project.id, params);
    const mergeRequests = await paginate<MergeRequestRow>(work.em, query, page);
    return mergeRequests.map((row) => presentMergeRequest(row, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_id',
  summary: 'One merge request, with whether it can be merged now',
  access: onMergeRequest('read_merge_request'),
  params: { merge_request_id: pathId() },
  returns: MergeRequestJson,
  async run({ mergeRequest, work }) {
    return presentChecked(work, mergeRequest);
  },
});

const given = {
  assignee_id: optional(integer()),
  description: optional(text()),
  milestone_id: optional(integer()),
};

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests',
  summary:
    'Asks for a branch of the project to be merged into another one, or into one of what it is a fork of',
  access: onWholeProject('create_merge_request'),
  params: {
    source_branch: text({ max: 1024 }),
    target_branch: text({ max: 1024 }),
    title: text({ max: 255 }),
    ...given,
    target_project_id: optional(integer()),
    labels: optional(words()),
  },
  status: 200,
  creates: true,
  returns: MergeRequestJson,
  transaction: false,
  async run({ viewer, project, params, work }) {
    const target = await findTarget(work, { viewer, source: project, targetId: params.target_project_id });
    const id = await createMergeRequest(work, {
      viewer,
      sourceProjectId: project.id,
      sourceBranch: params.source_branch,
      target,
      targetBranch: params.target_branch,
      title: params.title.trim(),
      description: params.description,
      assigneeId: params.assignee_id,
      milestoneId: params.milestone_id,
      labels: params.labels ?? [],
    });
    return presentOne(work, { viewerId: viewer.id, projectId: target.id, id });
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_id',
  summary: 'Changes what is given of a merge request; its state comes first, and `merge` is as `/merge`',
  access: onMergeRequest('read_merge_request'),
  params: {
    merge_request_id: pathId(),
    source_branch: optional(text()),
    target_branch: optional(text({ max: 1024 })),
    title: optional(text({ max: 255 })),
    ...given,
    // An empty text takes all labels away.
    labels: optional({ ...words(), keepBlank: true }),
    state_event: optional(choice(['close', 'reopen', 'merge'])),
  },
  returns: MergeRequestJson,
  transaction: false,
  async run({ viewer, project, mergeRequest, params, work }) {
    if (params.source_branch !== undefined) throw badRequest('Source branch cannot be changed');
    const event = params.state_event;
    // Whoever may merge it may change it; who may not merge it hears of that alone.
    if (event === 'merge') await acceptMergeRequest(work, { viewer, project, mergeRequest });
    else if (!canUpdateMergeRequest({ viewer, project, mergeRequest })) throw forbidden();
    const change = {
      title: params.title?.trim(),
      description: params.description,
      targetBranch: params.target_branch,
      assigneeId: params.assignee_id,
      milestoneId: params.milestone_id,
      labels: params.labels,
      stateEvent: event === 'merge' ? undefined : event,
    };
    const place = { viewerId: viewer.id, projectId: project.id, id: mergeRequest.id };
    if (Object.values(change).some((value) => value !== undefined)) {
      const current = event === 'merge' ? await requireMergeRequest(work, place) : mergeRequest;
      await updateMergeRequest(work, { viewer, project, mergeRequest: current, change });
    }
    return presentOne(work, place);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/merge_requests/:merge_request_id',
  summary: 'Takes a merge request away for everybody; to those who may not it is not there',
  access: onMergeRequest('delete_merge_request', 'delete_merge_request'),
  params: { merge_request_id: pathId() },
  returns: MergeRequestJson,
  transaction: false,
  async run({ mergeRequest, work }) {
    await deleteMergeRequest(work, mergeRequest.id);
    return presentMergeRequest(mergeRequest, work.origin);
  },
});

export const endpoints: Endpoint[] = [
  list,
  create,
  ...onBothPaths(get),
  ...onBothPaths(update),
  ...onBothPaths(remove),
];

interface Place {
  viewerId: number;
  projectId: number;
  id: number;
}

/** @throws AppError 404 when there is none. */
async function presentOne(work: Work, place: Place) {
  return presentChecked(work, await requireMergeRequest(work, place));
}

async function requireMergeRequest(work: Work, place: Place): Promise<MergeRequestRow> {
  const row = await findMergeRequest(work.em, place);
  if (!row) throw notFound();
  return row;
}

/** With whether it can be merged as its branches are at this moment. */
async function presentChecked(work: Work, row: MergeRequestRow) {
  return presentMergeRequest({ ...row, merge_status: await checkMergeStatus(work, row) }, work.origin);
}
