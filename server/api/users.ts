import { notFound } from '../errors.ts';
import { signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { flag, optional, pathId, text } from '../http/params.ts';
import {
  presentUserFull,
  presentUserProfile,
  presentUserSummary,
  UserFullJson,
  UserProfileJson,
  UserSummaryJson,
} from '../present/user.ts';
import { type UserRow, userById } from '../queries/user-row.ts';
import { listUsers as listUsersQuery } from '../queries/users.ts';

const listUsers = endpoint({
  method: 'GET',
  path: '/users',
  summary: 'All users; administrators see them in full',
  access: signedIn(),
  params: {
    search: optional(text({ max: 255 })),
    username: optional(text({ max: 255 })),
    active: optional(flag()),
  },
  returns: UserFullJson.or(UserSummaryJson),
  list: true,
  async run({ viewer, params, page, work }) {
    const users = await paginate<UserRow>(work.em, listUsersQuery(params), page);
    return users.map((user) =>
      viewer.is_admin ? presentUserFull(user, work.origin) : presentUserSummary(user, work.origin),
    );
  },
});

const getUser = endpoint({
  method: 'GET',
  path: '/users/:id',
  summary: 'One user; administrators see him in full',
  access: signedIn(),
  params: { id: pathId() },
  returns: UserFullJson.or(UserProfileJson),
  async run({ viewer, params, work }) {
    const user = await userById(work.em, params.id);
    if (!user) throw notFound('User');
    return viewer.is_admin ? presentUserFull(user, work.origin) : presentUserProfile(user, work.origin);
  },
});

export const endpoints: Endpoint[] = [listUsers, getUser];
