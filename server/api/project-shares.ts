import { requireSharing, shareProject, unshareProject } from '../actions/share-project.ts';
import { conflict, notFound } from '../errors.ts';
import { onProject, onWholeProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { integer, pathId, text } from '../http/params.ts';
import { mayInGroup } from '../policy/group.ts';
import { ShareJson } from '../present/member.ts';
import { findGroupScope } from '../queries/group-row.ts';

const share = endpoint({
  method: 'POST',
  path: '/projects/:id/share',
  summary: 'Shares a project with a group that the caller sees',
  access: onWholeProject('admin_project'),
  params: { group_id: integer(), group_access: text({ max: 32 }) },
  returns: ShareJson,
  async run({ viewer, project, params, work }) {
    requireSharing(project);
    const { group_id: groupId } = params;
    const found = await findGroupScope(work.em, { by: 'id', value: viewer.id }, String(groupId));
    const group = found?.group;
    if (group?.id !== groupId || !mayInGroup(viewer, group, 'read_group')) throw notFound('Group');
    if (!/^\s*[1-4]0\s*$/.test(params.group_access)) {
      throw conflict('Group access is not included in the list');
    }
    return shareProject(work, { project, groupId, level: Number(params.group_access) });
  },
});

const unshare = endpoint({
  method: 'DELETE',
  path: '/projects/:id/share/:group_id',
  summary: 'Ends the share of a group in a project',
  access: onProject('admin_project'),
  params: { group_id: pathId() },
  returns: ShareJson,
  run: ({ project, params, work }) => unshareProject(work, project.id, params.group_id),
});

export const endpoints: Endpoint[] = [share, unshare];
