import { moveIssue } from '../actions/move-issue.ts';
import { subscribe } from '../actions/subscribe.ts';
import { onIssue } from '../http/access.ts';
import { notModified } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { integer, pathId } from '../http/params.ts';
import { IssueJson, presentIssue } from '../present/issue.ts';
import { presentOne } from './issues.ts';

const move = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_id/move',
  summary: 'Goes on with an issue in another project, with all that was said of it; here it is closed',
  access: onIssue('read_issue'),
  paramsFirst: true,
  params: { issue_id: pathId(), to_project_id: integer() },
  returns: IssueJson,
  async run({ viewer, project, issue, params, work }) {
    const to = params.to_project_id;
    const id = await moveIssue(work, { viewer, project, issueId: issue.id, toProjectId: to });
    return presentOne(work, { viewerId: viewer.id, projectId: to, id });
  },
});

export const endpoints: Endpoint[] = [
  move,
  subscription('POST', 'Lets the caller hear of an issue; 304 when he does already'),
  subscription('DELETE', 'Lets the caller hear no more of an issue; 304 when he does not'),
];

function subscription(method: 'POST' | 'DELETE', summary: string): Endpoint {
  return endpoint({
    method,
    path: '/projects/:id/issues/:issue_id/subscription',
    summary,
    access: onIssue('read_issue'),
    params: { issue_id: pathId() },
    returns: IssueJson,
    async run({ viewer, issue, work }) {
      const subscribed = method === 'POST';
      if (issue.subscribed === subscribed) return notModified();
      await subscribe(work, { userId: viewer.id, thing: { column: 'issue_id', id: issue.id }, subscribed });
      return presentIssue({ ...issue, subscribed }, work.origin);
    },
  });
}
