import { addGroupMember, changeGroupMember, removeGroupMember } from '../actions/group-members.ts';
import { AppError, notFound } from '../errors.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { onGroup } from '../http/group-access.ts';
import { paginate } from '../http/paginate.ts';
import { integer, pathId } from '../http/params.ts';
import { authorizeInGroup } from '../policy/group.ts';
import { MemberJson, presentMember } from '../present/member.ts';
import { findGroupMember, listGroupMembers, type MemberRow } from '../queries/members.ts';
import type { Work } from '../services.ts';
import { memberLevel, requireLevel } from './member-level.ts';

const highest = 50;

const list = endpoint({
  method: 'GET',
  path: '/groups/:id/members',
  summary: 'Members of a group; their addresses are for members and administrators',
  access: onGroup('read_group'),
  returns: MemberJson,
  list: true,
  async run({ viewer, group, page, work }) {
    const email = viewer.is_admin || group.viewer_level > 0;
    const members = await paginate<MemberRow>(work.em, listGroupMembers(group.id), page);
    return members.map((member) => presentMember(member, { origin: work.origin, email }));
  },
});

const add = endpoint({
  method: 'POST',
  path: '/groups/:id/members',
  summary: 'Adds a user to a group',
  access: onGroup('admin_group'),
  params: { user_id: integer(), access_level: memberLevel() },
  returns: MemberJson,
  async run({ viewer, group, params, work }) {
    const accessLevel = requireLevel(params.access_level, highest);
    const change = { groupId: group.id, userId: params.user_id, accessLevel, by: viewer.id };
    return presented(work, await addGroupMember(work, change));
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/groups/:id/members/:user_id',
  summary: 'Changes the level of a member; the last owner stays one',
  access: onGroup('admin_group'),
  params: { user_id: pathId(), access_level: memberLevel() },
  returns: MemberJson,
  async run({ viewer, group, params, work }) {
    const { user_id: userId } = params;
    if (!(await findGroupMember(work.em, group.id, userId))) throw notFound('User can not be found');
    const accessLevel = requireLevel(params.access_level, highest);
    const change = { groupId: group.id, userId, accessLevel, by: viewer.id };
    return presented(work, await changeGroupMember(work, change));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/groups/:id/members/:user_id',
  summary: 'Removes a member from a group, which every member may do with himself; the last owner stays',
  access: onGroup('read_group'),
  params: { user_id: pathId() },
  returns: MemberJson,
  async run({ viewer, group, params, work }) {
    const { user_id: userId } = params;
    if (userId !== viewer.id) authorizeInGroup(viewer, group, 'admin_group');
    const removed = await removeGroupMember(work, { groupId: group.id, userId });
    if (removed) return presented(work, removed);
    const message = `404 Not Found - user_id:${userId} not a member of group ${group.name}`;
    throw new AppError({ status: 404, message });
  },
});

export const endpoints: Endpoint[] = [list, add, update, remove];

/** For those who say who the members are, and for the member himself. */
function presented({ origin }: Work, member: MemberRow) {
  return presentMember(member, { origin, email: true });
}
