import { notFound } from '../errors.ts';
import { admin } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pathId } from '../http/params.ts';
import { presentSshKeyWithUser, SshKeyWithUserJson } from '../present/ssh-key.ts';
import { findKey } from '../queries/ssh-keys.ts';
import { userById } from '../queries/user-row.ts';

const get = endpoint({
  method: 'GET',
  path: '/keys/:id',
  summary: 'A key with the user whose it is; null for a deploy key',
  access: admin(),
  params: { id: pathId() },
  returns: SshKeyWithUserJson,
  async run({ params, work }) {
    const row = await findKey(work.em, params.id);
    if (!row) throw notFound();
    const user = row.user_id === null ? null : await userById(work.em, row.user_id);
    return presentSshKeyWithUser(row, user, work.origin);
  },
});

export const endpoints: Endpoint[] = [get];
