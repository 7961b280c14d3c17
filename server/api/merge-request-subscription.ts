import { subscribe } from '../actions/subscribe.ts';
import { onMergeRequest } from '../http/access.ts';
import { notModified } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pathId } from '../http/params.ts';
import { MergeRequestJson, presentMergeRequest } from '../present/merge-request.ts';
import { onBothPaths } from './merge-request-paths.ts';

export const endpoints: Endpoint[] = [
  ...subscription('POST', 'Lets the caller hear of a merge request; 304 when he does already'),
  ...subscription('DELETE', 'Lets the caller hear no more of a merge request; 304 when he does not'),
];

function subscription(method: 'POST' | 'DELETE', summary: string): Endpoint[] {
  const declared = endpoint({
    method,
    path: '/projects/:id/merge_requests/:merge_request_id/subscription',
    summary,
    access: onMergeRequest('read_merge_request'),
    params: { merge_request_id: pathId() },
    returns: MergeRequestJson,
    async run({ viewer, mergeRequest, work }) {
      const subscribed = method === 'POST';
      if (mergeRequest.subscribed === subscribed) return notModified();
      const thing = { column: 'merge_request_id', id: mergeRequest.id } as const;
      await subscribe(work, { userId: viewer.id, thing, subscribed });
      return presentMergeRequest({ ...mergeRequest, subscribed }, work.origin);
    },
  });
  return onBothPaths(declared);
}
