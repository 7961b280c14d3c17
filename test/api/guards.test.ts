import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp({ poolSize: 4 });

function call<Body = unknown>(method: string, path: string, form?: Record<string, string>, as = rootToken) {
  return holder.app.call<Body>(method, `/api/v3${path}`, { as, form });
}

async function activeAdmins(): Promise<number> {
  const [row] = await holder.app.rows<{ count: number }>(
    `select count(*)::int as count from users where is_admin and state = 'active'`,
  );
  return row?.count ?? 0;
}

test.serial('the last administrator stays one, whoever asks', async (t) => {
  const removed = await call<{ id: number }>('DELETE', '/users/1');
  t.is(removed.status, 200);
  t.is(removed.body.id, 1);
  const demoted = await call('PUT', '/users/1', { admin: 'false' });
  t.is(demoted.status, 404);
  t.deepEqual(demoted.body, { message: { admin: ['cannot be taken from the last administrator'] } });
  const blocked = await call('PUT', '/users/1/block');
  t.is(blocked.status, 403);
  t.deepEqual(blocked.body, { message: '403 Forbidden - The last administrator cannot be blocked' });
  t.is((await call<{ is_admin: boolean }>('GET', '/user')).body.is_admin, true);
});

test.serial('an administrator who is blocked is none that could help', async (t) => {
  const other = await holder.app.make.user({ isAdmin: true, state: 'blocked' });
  t.is((await call('PUT', '/users/1/block')).status, 403);
  t.is((await call('DELETE', `/users/${other.id}`)).status, 200);
});

for (const [way, ask] of Object.entries({
  demote: (id: number, as: string) => call('PUT', `/users/${id}`, { admin: 'false' }, as),
  block: (id: number, as: string) => call('PUT', `/users/${id}/block`, {}, as),
  remove: (id: number, as: string) => call('DELETE', `/users/${id}`, {}, as),
})) {
  test.serial(`of administrators who ${way} each other at the same time one is left`, async (t) => {
    const { make, rows } = holder.app;
    const [first, second] = [await make.user({ isAdmin: true }), await make.user({ isAdmin: true })];
    await rows('update users set is_admin = false where id = 1');
    try {
      await Promise.all([ask(first.id, second.token), ask(second.id, first.token)]);
      t.is(await activeAdmins(), 1);
    } finally {
      await rows('update users set is_admin = id = 1 where is_admin or id = 1');
    }
  });
}

test.serial('nobody gets a level that is kept from him by choosing none', async (t) => {
  const user = await holder.app.make.user();
  const restricted = { restricted_visibility_levels: '2', default_project_visibility: '2' };
  await call('PUT', '/application/settings', restricted);
  const level = async (path: string, form: Record<string, string>, as?: string) =>
    (await call<{ visibility_level: number }>('POST', path, form, as)).body.visibility_level;
  t.is(await level('/groups', { name: 'quiet', path: 'quiet' }, user.token), 10);
  t.is(await level('/projects', { name: 'quiet' }, user.token), 10);
  t.is(await level('/projects', { name: 'loud' }), 20);
  await call('PUT', '/application/settings', { restricted_visibility_levels: '0,1,2' });
  const refused = await call('POST', '/projects', { name: 'none' }, user.token);
  t.is(refused.status, 400);
  t.deepEqual(refused.body, {
    message: { visibility_level: ['public has been restricted by your GitLab administrator'] },
  });
});

test.serial('of name and path the one is blamed that is taken', async (t) => {
  const user = await holder.app.make.user();
  await call('PUT', '/application/settings', { restricted_visibility_levels: '' });
  t.is((await call('POST', '/projects', { name: 'one', path: 'first' }, user.token)).status, 201);
  const messages = async (form: Record<string, string>) =>
    (await call<{ message: unknown }>('POST', '/projects', form, user.token)).body.message;
  const taken = ['has already been taken'];
  t.deepEqual(await messages({ name: 'one', path: 'other' }), { name: taken });
  t.deepEqual(await messages({ name: 'other', path: 'FIRST' }), { path: taken });
  t.deepEqual(await messages({ name: 'one', path: 'first' }), { name: taken, path: taken });
  const second = await call<{ id: number }>('POST', '/projects', { name: 'two' }, user.token);
  const change = await call('PUT', `/projects/${second.body.id}`, { path: 'first' }, user.token);
  t.deepEqual([change.status, change.body], [400, { message: { path: taken } }]);
});

test.serial('a group can be kept from sharing its projects', async (t) => {
  const made = await call<{ id: number }>('POST', '/groups', { name: 'kept', path: 'kept' });
  const locked = await call('PUT', '/groups/kept', { share_with_group_lock: 'true' });
  t.is(locked.status, 200);
  const form = { name: 'inside', namespace_id: String(made.body.id) };
  const project = await call<{ id: number; namespace: unknown }>('POST', '/projects', form);
  t.like(project.body.namespace, { share_with_group_lock: true });
  const other = await call<{ id: number }>('POST', '/groups', { name: 'guests', path: 'guests' });
  const share = { group_id: String(other.body.id), group_access: '20' };
  const refused = await call('POST', `/projects/${project.body.id}/share`, share);
  t.deepEqual(
    [refused.status, refused.body],
    [400, { message: 'The project sharing with group is disabled' }],
  );
});

test.serial('removing a user whose number is too large for one is removing nobody', async (t) => {
  const answer = await call('DELETE', '/users/99999999999999999999');
  t.deepEqual([answer.status, answer.body], [200, null]);
  t.is((await call('DELETE', '/users/x')).status, 404);
});
