import { closingNames } from '../actions/closing-names.ts';
import { onMergeRequest } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { pathId } from '../http/params.ts';
import { IssueJson, presentIssue } from '../present/issue.ts';
import type { IssueRow } from '../queries/issue-row.ts';
import { findNamedIssues, listIssues } from '../queries/named-issues.ts';
import { inTime } from './commit-lookup.ts';
import { onBothPaths } from './merge-request-paths.ts';

const closes = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_id/closes_issues',
  summary:
    'Issues that the commits and the description of a merge request into the default branch say it closes',
  access: onMergeRequest('read_merge_request'),
  params: { merge_request_id: pathId() },
  returns: IssueJson,
  list: true,
  async run({ viewer, project, mergeRequest, page, work, signal }) {
    const isIntoTrunk = mergeRequest.target_branch === project.default_branch;
    const names = isIntoTrunk ? await inTime(() => closingNames(work, mergeRequest, signal)) : [];
    const named = await findNamedIssues(work.em, { userId: viewer.id, projectId: project.id, names });
    const ids = named.map(({ id }) => id);
    const issues = await paginate<IssueRow>(work.em, listIssues(viewer, ids), page);
    return issues.map((row) => presentIssue(row, work.origin));
  },
});

export const endpoints: Endpoint[] = onBothPaths(closes);
