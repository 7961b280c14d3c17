import { acceptMergeRequest } from '../actions/accept-merge-request.ts';
import { cancelAutomaticMerge } from '../actions/cancel-automatic-merge.ts';
import { checkMergeStatus } from '../actions/refresh-merge-request.ts';
import { notFound } from '../errors.ts';
import { onMergeRequest } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { flag, optional, pathId, text } from '../http/params.ts';
import { MergeRequestJson, presentMergeRequest } from '../present/merge-request.ts';
import { findMergeRequest } from '../queries/merge-request-row.ts';
import type { Work } from '../services.ts';
import { onBothPaths } from './merge-request-paths.ts';

const accept = endpoint({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_id/merge',
  summary: 'Merges it into its target branch, or has it merged once its builds have succeeded',
  access: onMergeRequest('accept_merge_request'),
  params: {
    merge_request_id: pathId(),
    merge_commit_message: optional(text()),
    should_remove_source_branch: optional(flag()),
    merged_when_build_succeeds: optional(flag()),
    merge_when_build_succeeds: optional(flag()),
    sha: optional(text()),
  },
  returns: MergeRequestJson,
  transaction: false,
  async run({ viewer, project, mergeRequest, params, work }) {
    await acceptMergeRequest(work, {
      viewer,
      project,
      mergeRequest,
      message: params.merge_commit_message,
      removesSourceBranch: params.should_remove_source_branch,
      whenBuildSucceeds: params.merged_when_build_succeeds ?? params.merge_when_build_succeeds,
      sha: params.sha,
    });
    return presentOne(work, viewer.id, mergeRequest);
  },
});

function cancel(method: 'PUT' | 'POST'): Endpoint {
  return endpoint({
    method,
    path: '/projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds',
    summary: 'Takes back that it is merged once its builds have succeeded',
    // Its author may, whatever else he may.
    access: onMergeRequest('read_merge_request'),
    params: { merge_request_id: pathId() },
    status: 200,
    returns: MergeRequestJson,
    async run({ viewer, project, mergeRequest, work }) {
      await cancelAutomaticMerge(work, { viewer, project, mergeRequest });
      return presentOne(work, viewer.id, mergeRequest);
    },
  });
}

export const endpoints: Endpoint[] = [
  ...onBothPaths(accept),
  ...onBothPaths(cancel('PUT')),
  ...onBothPaths(cancel('POST')),
];

async function presentOne(work: Work, viewerId: number, row: { id: number; project_id: number }) {
  const found = await findMergeRequest(work.em, { viewerId, projectId: row.project_id, id: row.id });
  if (!found) throw notFound();
  return presentMergeRequest({ ...found, merge_status: await checkMergeStatus(work, found) }, work.origin);
}
