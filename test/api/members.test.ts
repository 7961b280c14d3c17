import test from 'ava';
import { apiCalls, messageOf, statusesOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

// As many connections as requests, so that they really meet in the database.
const holder = withApp({ poolSize: 6 });

interface Member {
  id: number;
  username: string;
  email: string | null;
  access_level: number;
}

const call = apiCalls<Member>(holder);

async function ownedGroup(): Promise<{ id: number; owner: MadeUser; path: string }> {
  const { make } = holder.app;
  const id = await make.group();
  const owner = await make.user();
  await make.groupMember(id, owner, 'owner');
  return { id, owner, path: `/groups/${id}/members` };
}

async function levelsIn(groupId: number): Promise<Record<number, number>> {
  const rows = await holder.app.rows<{ user_id: number; access_level: number }>(
    'select user_id, access_level from group_members where group_id = $1',
    [groupId],
  );
  return Object.fromEntries(rows.map((row) => [row.user_id, row.access_level]));
}

test('owners add members to a group', async (t) => {
  const { make, url, rows } = holder.app;
  const { owner, path } = await ownedGroup();
  const user = await make.user();
  const added = await call('POST', path, owner.token, { user_id: user.id, access_level: '30' });
  t.is(added.status, 201);
  const [{ created_at } = { created_at: new Date(0) }] = await rows<{ created_at: Date }>(
    'select created_at from users where id = $1',
    [user.id],
  );
  const { avatar_url, ...rest } = added.body as Member & { avatar_url: string };
  t.is(typeof avatar_url, 'string');
  t.deepEqual(rest as unknown, {
    id: user.id,
    username: user.username,
    name: `Name of ${user.username}`,
    state: 'active',
    web_url: `${url}/u/${user.username}`,
    email: `${user.username}@example.com`,
    created_at: created_at.toISOString(),
    access_level: 30,
  });
  const again = await call('POST', path, owner.token, { user_id: user.id, access_level: 10 });
  t.is(again.status, 409);
  t.is(messageOf(again), 'Already exists');
  t.is((await call('POST', path, user.token, {})).status, 403, 'the right comes before the parameters');
});

test('what is checked when a member is added to a group, in this order', async (t) => {
  const { owner, path } = await ownedGroup();
  const post = async (json: Record<string, unknown>) => {
    const answer = await call('POST', path, owner.token, json);
    return [answer.status, messageOf(answer)];
  };
  t.deepEqual(await post({ access_level: 99 }), [400, '400 (Bad request) "user_id" not given']);
  t.deepEqual(await post({ user_id: owner.id }), [400, '400 (Bad request) "access_level" not given']);
  for (const access_level of [0, 15, 51, 60, 'master', '1e1', true]) {
    const given = { user_id: owner.id, access_level };
    t.deepEqual(await post(given), [422, 'Wrong access level'], String(access_level));
  }
  t.deepEqual(await post({ user_id: 2_000_000_000, access_level: 10 }), [404, '404 User Not Found']);
});

test('members of a group are listed, the newest first; strangers see no addresses', async (t) => {
  const { make } = holder.app;
  const { id, owner, path } = await ownedGroup();
  const guest = await make.user();
  await make.groupMember(id, guest, 'guest');
  for (const token of [owner.token, guest.token, rootToken]) {
    const list = await call<Member[]>('GET', path, token);
    t.deepEqual(
      list.body.map((member) => [member.id, member.access_level, member.email]),
      [
        [guest.id, 10, `${guest.username}@example.com`],
        [owner.id, 50, `${owner.username}@example.com`],
      ],
    );
    t.is(list.headers.get('x-total'), '2');
  }
  const stranger = await make.user();
  const seen = await call<Member[]>('GET', `${path}?per_page=1`, stranger.token);
  t.deepEqual(
    seen.body.map((member) => [member.id, member.email]),
    [[guest.id, null]],
  );
});

test('owners change levels in a group', async (t) => {
  const { make } = holder.app;
  const { id, owner, path } = await ownedGroup();
  const user = await make.user();
  await make.groupMember(id, user, 'guest');
  const put = (userId: number | string, json?: Record<string, unknown>, as = owner.token) =>
    call('PUT', `${path}/${userId}`, as, json);
  const changed = await put(user.id, { access_level: 40 });
  t.is(changed.status, 200);
  t.like(changed.body, { id: user.id, access_level: 40 });
  t.is(messageOf(await put(user.id)), '400 (Bad request) "access_level" not given');
  t.is((await put(user.id, { access_level: 35 })).status, 422);
  t.is((await put(user.id, { access_level: 50 }, user.token)).status, 403);
  const stranger = await make.user();
  const none = await put(stranger.id, { access_level: 35 });
  t.is(none.status, 404);
  t.is(messageOf(none), '404 User can not be found Not Found');
  t.is((await put('x', { access_level: 10 })).status, 404);
});

test('members leave a group or are removed by owners', async (t) => {
  const { make, rows } = holder.app;
  const { id, owner, path } = await ownedGroup();
  await rows("update namespaces set name = 'Some name' where id = $1", [id]);
  const [first, second] = [await make.user(), await make.user()];
  for (const user of [first, second]) await make.groupMember(id, user, 'master');
  t.is((await call('DELETE', `${path}/${second.id}`, first.token)).status, 403);
  const left = await call('DELETE', `${path}/${first.id}`, first.token);
  t.is(left.status, 200);
  t.like(left.body, { id: first.id, access_level: 40 });
  t.is((await call('DELETE', `${path}/${second.id}`, owner.token)).status, 200);
  const gone = await call('DELETE', `${path}/${second.id}`, owner.token);
  t.is(gone.status, 404);
  t.is(messageOf(gone), `404 Not Found - user_id:${second.id} not a member of group Some name`);
  t.is((await call('DELETE', `${path}/${first.id}`, first.token)).status, 404, 'he is none any more');
  t.deepEqual(await levelsIn(id), { [owner.id]: 50 });
});

test('the last owner of a group stays one, whoever asks', async (t) => {
  const { make } = holder.app;
  const { id, owner, path } = await ownedGroup();
  const master = await make.user();
  await make.groupMember(id, master, 'master');
  const place = `${path}/${owner.id}`;
  for (const token of [owner.token, rootToken]) {
    t.is((await call('DELETE', place, token)).status, 403);
    t.is((await call('PUT', place, token, { access_level: 40 })).status, 403);
    t.is((await call('PUT', place, token, { access_level: 50 })).status, 200, 'no change');
  }
  await call('PUT', `${path}/${master.id}`, owner.token, { access_level: 50 });
  t.is((await call('PUT', place, owner.token, { access_level: 10 })).status, 200);
  t.deepEqual(await levelsIn(id), { [owner.id]: 10, [master.id]: 50 });
});

for (const state of ['blocked', 'ldap_blocked']) {
  test(`an owner who is ${state} takes nobody’s place, and may go himself`, async (t) => {
    const { make } = holder.app;
    const { id, owner, path } = await ownedGroup();
    const [shutOut, another] = [await make.user({ state }), await make.user({ state })];
    for (const user of [shutOut, another]) await make.groupMember(id, user, 'owner');
    for (const token of [owner.token, rootToken]) {
      t.is((await call('DELETE', `${path}/${owner.id}`, token)).status, 403);
      t.is((await call('PUT', `${path}/${owner.id}`, token, { access_level: 40 })).status, 403);
    }
    t.is((await call('PUT', `${path}/${another.id}`, owner.token, { access_level: 40 })).status, 200);
    t.deepEqual(await levelsIn(id), { [owner.id]: 50, [shutOut.id]: 50, [another.id]: 40 });
    t.is(
      (await call('PUT', `/users/${owner.id}/block`, rootToken)).status,
      200,
      'blocking is no matter of it',
    );
    t.is(
      (await call('DELETE', `${path}/${shutOut.id}`, rootToken)).status,
      200,
      'another is left, blocked too',
    );
    t.is((await call('DELETE', `${path}/${owner.id}`, rootToken)).status, 403, 'nobody would be left');
    t.deepEqual(await levelsIn(id), { [owner.id]: 50, [another.id]: 40 });
  });
}

test('of two owners who remove or demote each other at once, one stays', async (t) => {
  const { make } = holder.app;
  for (let round = 0; round < 6; round += 1) {
    const { id, owner, path } = await ownedGroup();
    const other = await make.user();
    await make.groupMember(id, other, 'owner');
    const attack = (by: MadeUser, on: MadeUser) =>
      round % 2 === 0
        ? call('DELETE', `${path}/${on.id}`, by.token)
        : call('PUT', `${path}/${on.id}`, by.token, { access_level: 10 });
    t.deepEqual(statusesOf(await Promise.all([attack(owner, other), attack(other, owner)])), [200, 403]);
    t.is(Object.values(await levelsIn(id)).filter((level) => level === 50).length, 1);
  }
});

test('of several who add the same user to a group, one does', async (t) => {
  const { make } = holder.app;
  for (let round = 0; round < 4; round += 1) {
    const { owner, path } = await ownedGroup();
    const user = await make.user();
    const add = () => call('POST', path, owner.token, { user_id: user.id, access_level: 10 });
    t.deepEqual(statusesOf(await Promise.all([add(), add(), add()])), [201, 409, 409]);
  }
});

test('a user who is removed while he is added is no member, and whoever adds him is told', async (t) => {
  const { make, rows } = holder.app;
  for (let round = 0; round < 4; round += 1) {
    const { owner, path } = await ownedGroup();
    const project = await make.project();
    const user = await make.user();
    const given = { user_id: user.id, access_level: 10 };
    const [toGroup, toProject, removed] = await Promise.all([
      call('POST', path, owner.token, given),
      call('POST', `/projects/${project.id}/members`, project.owner.token, given),
      call('DELETE', `/users/${user.id}`, rootToken),
    ]);
    t.is(removed.status, 200);
    for (const added of [toGroup, toProject]) t.true([201, 404].includes(added.status), String(added.status));
    t.deepEqual(await rows('select 1 from users where id = $1', [user.id]), []);
  }
});

test('members of a project are listed, searched by user name, and shown one by one', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const one = await make.user({ username: 'needle_one' });
  const two = await make.user({ username: 'other_needle' });
  const path = `/projects/${project.id}/members`;
  const { token } = project.owner;
  for (const user of [one, two]) {
    const added = await call('POST', path, token, { user_id: user.id, access_level: 20 });
    t.is(added.status, 201);
    t.like(added.body, { id: user.id, access_level: 20, email: `${user.username}@example.com` });
  }
  const list = async (query: string, as = token) => {
    const answer = await call<Member[]>('GET', `${path}?query=${query}`, as);
    return answer.body.map((member) => member.id);
  };
  t.deepEqual(await list(''), [two.id, one.id]);
  t.deepEqual(await list('NEEDLE'), [two.id, one.id]);
  t.deepEqual(await list('needle_'), [one.id]);
  t.deepEqual(await list('needle&per_page=1&page=2'), [one.id]);
  const stranger = await make.user();
  t.like((await call('GET', `${path}/${one.id}`, stranger.token)).body, { id: one.id, email: null });
  t.like((await call('GET', `${path}/${one.id}`, two.token)).body, { email: `${one.username}@example.com` });
  const none = await call('GET', `${path}/${stranger.id}`, token);
  t.is(none.status, 404);
  t.is(messageOf(none), '404 Not found');
});

test('adding a member of a project again changes nothing', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const user = await make.user();
  const path = `/projects/${project.id}/members`;
  const add = (access_level: number) =>
    call('POST', path, project.owner.token, { user_id: user.id, access_level });
  t.deepEqual(statusesOf(await Promise.all([add(20), add(20), add(20)])), [201, 201, 201]);
  const again = await add(40);
  t.is(again.status, 201);
  t.is(again.body.access_level, 20);
  const events = await rows('select action, author_id from events where project_id = $1', [project.id]);
  t.deepEqual(events, [{ action: 'joined', author_id: user.id }]);
});

test('what is checked when a member is added to a project', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const user = await make.user();
  const path = `/projects/${project.id}/members`;
  const post = async (json: Record<string, unknown>) => {
    const answer = await call('POST', path, project.owner.token, json);
    return [answer.status, messageOf(answer)];
  };
  t.deepEqual(await post({}), [400, '400 (Bad request) "user_id" not given']);
  t.deepEqual(await post({ user_id: user.id }), [400, '400 (Bad request) "access_level" not given']);
  for (const access_level of [50, 5, 'x']) {
    t.deepEqual(await post({ user_id: user.id, access_level }), [422, 'Wrong access level']);
  }
  t.deepEqual(await post({ user_id: 2_000_000_000, access_level: 10 }), [404, '404 User Not Found']);
  const developer = await make.member(project, 'developer');
  const master = await make.member(project, 'master');
  const given = { user_id: user.id, access_level: 10 };
  t.is((await call('POST', path, developer.token, given)).status, 403);
  t.is((await call('POST', path, master.token, given)).status, 201);
});

test('masters change levels in a project', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const user = await make.member(project, 'guest');
  const put = (userId: number, json: Record<string, unknown>) =>
    call('PUT', `/projects/${project.id}/members/${userId}`, project.owner.token, json);
  const changed = await put(user.id, { access_level: 40 });
  t.is(changed.status, 200);
  t.is(changed.body.access_level, 40);
  t.is((await call('GET', `/projects/${project.id}/triggers`, user.token)).status, 200);
  t.is(messageOf(await put(user.id, {})), '400 (Bad request) "access_level" not given');
  t.is((await put(user.id, { access_level: 50 })).status, 422);
  const none = await put((await make.user()).id, { access_level: 10 });
  t.is(messageOf(none), '404 User can not be found Not Found');
  const elsewhere = await make.member(await make.project(), 'guest');
  t.is((await put(elsewhere.id, { access_level: 10 })).status, 404);
});

test('members leave a project or are removed by masters; its owner stays', async (t) => {
  const { make, rows } = holder.app;
  const owner = await make.user();
  const created = await call('POST', '/projects', owner.token, { name: 'left', visibility_level: 20 });
  const project = { id: created.body.id };
  const path = `/projects/${project.id}/members`;
  const [guest, master] = [await make.member(project, 'guest'), await make.member(project, 'master')];
  const remove = (user: MadeUser, as: MadeUser) => call('DELETE', `${path}/${user.id}`, as.token);
  t.is((await remove(master, guest)).status, 403);
  const left = await remove(guest, guest);
  t.is(left.status, 200);
  t.like(left.body, { id: guest.id, access_level: 10 });
  const again = await remove(guest, master);
  t.is(again.status, 200);
  t.deepEqual(again.body as unknown, { message: 'Access revoked', id: guest.id });
  t.is((await remove(owner, owner)).status, 403);
  t.is((await remove(owner, master)).status, 403);
  t.is((await remove(master, owner)).status, 200);
  const stranger = await make.user();
  t.is((await remove(owner, stranger)).status, 403);
  const events = await rows('select action, author_id from events where project_id = $1 order by id', [
    project.id,
  ]);
  t.deepEqual(events, [
    { action: 'created', author_id: owner.id },
    { action: 'left', author_id: guest.id },
    { action: 'left', author_id: master.id },
  ]);
});

test('a project is shared with a group that the caller sees', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const group = await ownedGroup();
  const path = `/projects/${project.id}/share`;
  const share = (json: Record<string, unknown>, as = project.owner.token) => call('POST', path, as, json);
  t.is(messageOf(await share({})), '400 (Bad request) "group_id" not given');
  t.is(messageOf(await share({ group_id: group.id })), '400 (Bad request) "group_access" not given');
  t.is((await call('GET', `/projects/${project.id}`, group.owner.token)).status, 404);
  for (const group_access of [0, 50, 'x']) {
    const refused = await share({ group_id: group.id, group_access });
    t.is(refused.status, 409);
    t.is(messageOf(refused), 'Group access is not included in the list');
  }
  const shared = await share({ group_id: group.id, group_access: 20 });
  t.is(shared.status, 201);
  t.like(shared.body, { project_id: project.id, group_id: group.id, group_access: 20 });
  const again = await share({ group_id: group.id, group_access: 30 });
  t.is(again.status, 409);
  t.is(messageOf(again), 'Group already shared with this group');
  t.is((await call('GET', `/projects/${project.id}`, group.owner.token)).status, 200);
  t.is((await call('GET', `/projects/${project.id}/variables`, group.owner.token)).status, 403, 'capped');
  const ended = await call('DELETE', `${path}/${group.id}`, project.owner.token);
  t.deepEqual(ended, { ...ended, status: 200, body: shared.body });
  t.is((await call('GET', `/projects/${project.id}`, group.owner.token)).status, 404);
  const gone = await call('DELETE', `${path}/${group.id}`, project.owner.token);
  t.is(gone.status, 404);
  t.is(messageOf(gone), '404 Group Link Not Found');
});

test('with which groups a project cannot be shared', async (t) => {
  const { make, rows } = holder.app;
  const home = await ownedGroup();
  const other = await make.group();
  const hidden = await make.group({ visibility: 'private' });
  const project = await make.project({ namespaceId: home.id });
  const share = (group_id: number, as = home.owner.token) =>
    call('POST', `/projects/${project.id}/share`, as, { group_id, group_access: 10 });
  t.is((await share(home.id)).status, 409);
  for (const id of [hidden, home.owner.namespaceId, 2_000_000_000]) {
    const answer = await share(id);
    t.is(answer.status, 404);
    t.is(messageOf(answer), '404 Group Not Found');
  }
  t.is((await share(hidden, rootToken)).status, 201);
  await rows('update namespaces set share_with_group_lock = true where id = $1', [home.id]);
  const locked = await share(other);
  t.is(locked.status, 400);
  t.is(messageOf(locked), 'The project sharing with group is disabled');
});
