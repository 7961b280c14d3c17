import { addProjectMember, changeProjectMember, removeProjectMember } from '../actions/project-members.ts';
import { notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { integer, optional, pathId, text } from '../http/params.ts';
import { authorize, type ProjectFacts, type ViewerFacts } from '../policy/project.ts';
import { AccessRevokedJson, MemberJson, presentMember } from '../present/member.ts';
import { findProjectMember, listProjectMembers, type MemberRow } from '../queries/members.ts';
import type { Work } from '../services.ts';
import { memberLevel, requireLevel } from './member-level.ts';

const highest = 40;

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/members',
  summary: 'Direct members of a project; their addresses are for members and administrators',
  access: onProject('read_project'),
  params: { query: optional(text({ max: 255 })) },
  returns: MemberJson,
  list: true,
  async run({ viewer, project, params, page, work }) {
    const query = listProjectMembers(project.id, params.query);
    const members = await paginate<MemberRow>(work.em, query, page);
    return members.map((member) => presentMember(member, shown(work, viewer, project)));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/members/:user_id',
  summary: 'One direct member of a project',
  access: onProject('read_project'),
  params: { user_id: pathId() },
  returns: MemberJson,
  async run({ viewer, project, params, work }) {
    const member = await findProjectMember(work.em, project.id, params.user_id);
    if (!member) throw notFound();
    return presentMember(member, shown(work, viewer, project));
  },
});

const add = endpoint({
  method: 'POST',
  path: '/projects/:id/members',
  summary: 'Adds a user to a project; one who is a member already stays as he is',
  access: onProject('admin_project'),
  params: { user_id: integer(), access_level: memberLevel() },
  returns: MemberJson,
  async run({ viewer, project, params, work }) {
    const accessLevel = requireLevel(params.access_level, highest);
    const change = { projectId: project.id, userId: params.user_id, accessLevel, by: viewer.id };
    return presentMember(await addProjectMember(work, change), shown(work, viewer, project));
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/members/:user_id',
  summary: 'Changes the level of a direct member',
  access: onProject('admin_project'),
  params: { user_id: pathId(), access_level: memberLevel() },
  returns: MemberJson,
  async run({ viewer, project, params, work }) {
    const { user_id: userId } = params;
    if (!(await findProjectMember(work.em, project.id, userId))) throw notFound('User can not be found');
    const accessLevel = requireLevel(params.access_level, highest);
    const change = { projectId: project.id, userId, accessLevel, by: viewer.id };
    return presentMember(await changeProjectMember(work, change), shown(work, viewer, project));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/members/:user_id',
  summary: 'Takes a direct member from a project, which every member may do with himself',
  access: onProject('read_project'),
  params: { user_id: pathId() },
  returns: MemberJson.or(AccessRevokedJson),
  async run({ viewer, project, params, work }) {
    const { user_id: userId } = params;
    if (userId !== viewer.id) authorize(viewer, project, 'admin_project');
    const removed = await removeProjectMember(work, { projectId: project.id, userId });
    if (removed) return presentMember(removed, { origin: work.origin, email: true });
    return { message: 'Access revoked' as const, id: userId };
  },
});

export const endpoints: Endpoint[] = [list, get, add, update, remove];

function shown({ origin }: Work, viewer: ViewerFacts, project: ProjectFacts) {
  return { origin, email: viewer.is_admin || project.viewer_level > 0 };
}
