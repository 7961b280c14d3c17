import { z } from 'zod';
import { blockUser, unblockUser } from '../actions/block-user.ts';
import { addUser } from '../actions/create-user.ts';
import { deleteUser } from '../actions/delete-user.ts';
import { updateUser } from '../actions/update-user.ts';
import { notFound } from '../errors.ts';
import { admin } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { settle } from '../http/late-params.ts';
import { optional, pathId, pathText, readId, text } from '../http/params.ts';
import { presentUserFull, UserFullJson } from '../present/user.ts';
import { userById } from '../queries/user-row.ts';
import type { Work } from '../services.ts';
import { changedUserParams, optionalUserParams, requiredUserParams } from './user-attributes.ts';

const create = endpoint({
  method: 'POST',
  path: '/users',
  summary: 'Makes a user with a namespace of his name',
  access: admin(),
  params: { ...requiredUserParams, ...optionalUserParams, confirm: optional(text({ max: 255 })) },
  returns: UserFullJson,
  async run({ params, work }) {
    const { confirm = 'true', ...given } = params;
    const { values, faults } = settle(given);
    const { username = '', name = '', email = '', password = '' } = values;
    const id = await addUser(work, {
      user: { ...values, username, name, email, password },
      faults,
      isToConfirm: !/(?:false|f|no|0)$/i.test(confirm.trim()),
    });
    return presentUser(work, id);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/users/:id',
  summary: 'Changes a user; what is wrong is told with 404',
  access: admin(),
  params: { id: pathId(), ...changedUserParams },
  returns: UserFullJson,
  async run({ viewer, params, work }) {
    const { id, ...given } = params;
    const { values, faults } = settle(given);
    await updateUser(work, { userId: id, viewer, change: values, faults });
    return presentUser(work, id);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/users/:id',
  summary: 'Removes a user with his projects, unless a group has no other owner',
  access: admin(),
  params: { id: pathText() },
  returns: UserFullJson.nullable(),
  transaction: false,
  async run({ params, work }) {
    const id = readId(params.id);
    if (id === null && !/^\d+$/.test(params.id)) throw notFound();
    const user = id === null ? null : await deleteUser(work, id);
    return user && presentUserFull(user, work.origin);
  },
});

const block = endpoint({
  method: 'PUT',
  path: '/users/:uid/block',
  summary: 'Shuts a user out; false when he was already',
  access: admin(),
  params: { uid: pathId() },
  returns: z.boolean(),
  run: ({ params, work }) => blockUser(work, params.uid),
});

const unblock = endpoint({
  method: 'PUT',
  path: '/users/:uid/unblock',
  summary: 'Lets a blocked user in again; false when he was not blocked',
  access: admin(),
  params: { uid: pathId() },
  returns: z.boolean(),
  run: ({ params, work }) => unblockUser(work, params.uid),
});

async function presentUser(work: Work, id: number): Promise<z.infer<typeof UserFullJson>> {
  const user = await userById(work.em, id);
  if (!user) throw notFound('User');
  return presentUserFull(user, work.origin);
}

export const endpoints: Endpoint[] = [create, update, remove, block, unblock];
