import { addUserKey, removeUserKey } from '../actions/ssh-keys.ts';
import { notFound } from '../errors.ts';
import { admin, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { type Late, late, settle } from '../http/late-params.ts';
import { paginate } from '../http/paginate.ts';
import { pathId, text } from '../http/params.ts';
import { presentRemovedKey, presentSshKey, RemovedKeyJson, SshKeyJson } from '../present/ssh-key.ts';
import { findUserKey, type KeyRow, listUserKeys } from '../queries/ssh-keys.ts';
import type { Work } from '../services.ts';
import { failingAsNotFound, requireUser } from './admin-scope.ts';

const keyParams = { title: late(text({ max: 255 })), key: late(text()) };

const listOwn = endpoint({
  method: 'GET',
  path: '/user/keys',
  summary: 'SSH keys of oneself',
  access: signedIn(),
  returns: SshKeyJson,
  list: true,
  async run({ viewer, page, work }) {
    return (await paginate<KeyRow>(work.em, listUserKeys(viewer.id), page)).map(presentSshKey);
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/keys/:id',
  summary: 'One SSH key of oneself',
  access: signedIn(),
  params: { id: pathId() },
  returns: SshKeyJson,
  async run({ viewer, params, work }) {
    const row = await findUserKey(work.em, viewer.id, params.id);
    if (!row) throw notFound();
    return presentSshKey(row);
  },
});

const addOwn = endpoint({
  method: 'POST',
  path: '/user/keys',
  summary: 'Adds an SSH key of oneself',
  access: signedIn(),
  params: keyParams,
  returns: SshKeyJson,
  run: async ({ viewer, params, work }) => presentSshKey(await add(work, viewer.id, params)),
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/keys/:id',
  summary: 'Removes an SSH key of oneself; null when there is none',
  access: signedIn(),
  params: { id: pathId() },
  returns: RemovedKeyJson.nullable(),
  async run({ viewer, params, work }) {
    const row = await removeUserKey(work, viewer.id, params.id);
    return row && presentRemovedKey(row);
  },
});

const listOther = endpoint({
  method: 'GET',
  path: '/users/:uid/keys',
  summary: 'SSH keys of a user',
  access: admin(),
  params: { uid: pathId() },
  returns: SshKeyJson,
  list: true,
  async run({ params, page, work }) {
    await requireUser(work.em, params.uid);
    return (await paginate<KeyRow>(work.em, listUserKeys(params.uid), page)).map(presentSshKey);
  },
});

const addOther = endpoint({
  method: 'POST',
  path: '/users/:uid/keys',
  summary: 'Adds an SSH key of a user; what is wrong with it is told with 404',
  access: admin(),
  params: { uid: pathId(), ...keyParams },
  returns: SshKeyJson,
  async run({ params, work }) {
    await requireUser(work.em, params.uid);
    return presentSshKey(await failingAsNotFound(add(work, params.uid, params)));
  },
});

const removeOther = endpoint({
  method: 'DELETE',
  path: '/users/:uid/keys/:id',
  summary: 'Removes an SSH key of a user',
  access: admin(),
  params: { uid: pathId(), id: pathId() },
  returns: RemovedKeyJson,
  async run({ params, work }) {
    await requireUser(work.em, params.uid);
    const row = await removeUserKey(work, params.uid, params.id);
    if (!row) throw notFound('Key');
    return presentRemovedKey(row);
  },
});

interface KeyParams {
  title: Late<string>;
  key: Late<string>;
}

async function add(work: Work, userId: number, { title, key }: KeyParams): Promise<KeyRow> {
  const { values, faults } = settle({ title, key });
  return addUserKey(work, { userId, key: values, faults });
}

export const endpoints: Endpoint[] = [listOwn, getOwn, addOwn, removeOwn, listOther, addOther, removeOther];
