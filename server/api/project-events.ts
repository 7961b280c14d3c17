import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, text } from '../http/params.ts';
import { ProjectEventJson, presentProjectEvent } from '../present/project-event.ts';
import { presentUserSummary, UserSummaryJson } from '../present/user.ts';
import { listProjectEvents, type ProjectEventRow } from '../queries/project-events.ts';
import { listProjectUsers } from '../queries/project-users.ts';
import type { UserSummaryRow } from '../queries/user-summary.ts';

const listEvents = endpoint({
  method: 'GET',
  path: '/projects/:id/events',
  summary: 'What happened in a project, newest first',
  access: onProject('read_project'),
  returns: ProjectEventJson,
  list: true,
  async run({ project, page, work }) {
    const events = await paginate<ProjectEventRow>(work.em, listProjectEvents(project.id), page);
    return events.map((row) => presentProjectEvent(row, work.origin));
  },
});

const listUsers = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  summary:
    'Who takes part in a project: its members, and those of its group and of groups that it is shared with',
  access: onProject('read_project'),
  params: { search: optional(text({ max: 255 })) },
  returns: UserSummaryJson,
  list: true,
  async run({ project, params, page, work }) {
    const users = await paginate<UserSummaryRow>(work.em, listProjectUsers(project.id, params.search), page);
    return users.map((user) => presentUserSummary(user, work.origin));
  },
});

export const endpoints: Endpoint[] = [listEvents, listUsers];
