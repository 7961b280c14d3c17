import test from 'ava';
import pg from 'pg';
import { rootToken, withApp } from '../support/app.ts';
import { databaseLocks } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import type { MadeUser } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';

const holder = withApp({ poolSize: 6 });
const { hold, waiters } = databaseLocks(holder);

type User = { id: number; username: string } | null;

function remove({ id }: { id: number }) {
  return holder.app.call<User>('DELETE', `/api/v3/users/${id}`, { as: rootToken });
}

async function isThere({ id }: { id: number }): Promise<boolean> {
  return (await holder.app.call('GET', `/api/v3/users/${id}`, { as: rootToken })).status === 200;
}

async function count(text: string, values: unknown[]): Promise<number> {
  const [row] = await holder.app.rows<{ count: number }>(
    `select count(*)::int as count from ${text}`,
    values,
  );
  return row?.count ?? -1;
}

/** Something of a user in each table that may point at him. */
async function leaveTraces(user: MadeUser): Promise<{ projectId: number; starred: number }> {
  const { app } = holder;
  const starred = await app.make.project({ visibility: 'public' });
  await app.call('POST', `/api/v3/projects/${starred.id}/star`, { as: user.token });
  const project = await app.make.project({ columns: { creator_id: user.id } });
  const build = await app.make.build(project, {
    status: 'success',
    columns: { user_id: user.id, erased_by_id: user.id },
  });
  await app.rows('update pipelines set user_id = $2 where id = $1', [build.pipelineId, user.id]);
  for (const text of [
    'insert into project_members (project_id, user_id, access_level) values ($1, $2, 40)',
    "insert into events (project_id, author_id, action) values ($1, $2, 'created')",
    "insert into pushes (project_id, user_id, changes) values ($1, $2, '[]')",
    "insert into uploads (project_id, uploader_id, secret, filename, size, blob_key) values ($1, $2, md5(($2::int)::text), 'a', 0, '')",
    "insert into triggers (project_id, owner_id, token_digest, token_sealed) values ($1, $2, sha256(int4send($2)), '')",
  ]) {
    await app.rows(text, [project.id, user.id]);
  }
  await app.rows(
    `insert into external_statuses (id, pipeline_id, user_id, name, status) values (nextval('builds_id_seq'), $1, $2, 'x', 'success')`,
    [build.pipelineId, user.id],
  );
  return { projectId: project.id, starred: starred.id };
}

/** Who is said to have made the builds, pipelines and events of a project. */
async function shownOf(projectId: number) {
  const { app } = holder;
  type Shown = { user?: User; author?: User; author_id?: number; author_username?: string };
  const read = async (path: string) => {
    const answer = await app.call<Shown[]>('GET', `/api/v3/projects/${projectId}${path}`, { as: rootToken });
    if (answer.body.length !== 1) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const events = await read('/events');
  return {
    users: [...(await read('/builds')), ...(await read('/pipelines'))].map(({ user }) => user),
    authors: events.map(({ author }) => author),
    ids: events.map(({ author_id }) => author_id),
  };
}

/** In which transactions the rows of what may be very much were last changed. */
function lastChanges(projectId: number): Promise<{ changes: string[] }[]> {
  return holder.app.rows(
    `select array(select xmin::text from builds where project_id = $1 union all
       select xmin::text from pipelines where project_id = $1 union all
       select s.xmin::text from external_statuses s join pipelines p on p.id = s.pipeline_id where project_id = $1
       union all select xmin::text from events where project_id = $1 union all
       select xmin::text from uploads where project_id = $1) as changes`,
    [projectId],
  );
}

test('a user goes with what is his; what he wrote stays without an author', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const own = await app.make.project({ owner: user, visibility: 'public' });
  const group = await app.make.group();
  await app.make.groupMember(group, user, 'developer');
  const key = { title: 'k', key: sshKeyLine('removed') };
  await app.call('POST', '/api/v3/user/keys', { as: user.token, form: key });
  await app.call('POST', '/api/v3/user/emails', { as: user.token, form: { email: 'removed@example.com' } });
  const { projectId, starred } = await leaveTraces(user);
  const before = await app.call('GET', `/api/v3/users/${user.id}`, { as: rootToken });
  t.like((await shownOf(projectId)).users, [{ id: user.id }, { id: user.id }]);
  const changes = await lastChanges(projectId);

  const answer = await remove(user);
  t.is(answer.status, 200);
  t.deepEqual(answer.body, before.body as User);
  t.false(await isThere(user));
  t.is((await app.call('GET', '/api/v3/user', { as: user.token })).status, 401, 'tokens die at once');
  const hidden = await app.call('GET', `/api/v3/projects/${own.id}`, { as: rootToken });
  t.is(hidden.status, 404, 'projects are hidden at once');
  t.is(await count('group_members where user_id = $1', [user.id]), 0);
  for (const [table, column, place] of [
    ['pushes', 'user_id', 'project_id'],
    ['triggers', 'owner_id', 'project_id'],
    ['projects', 'creator_id', 'id'],
  ]) {
    t.is(await count(`${table} where ${place} = $1 and ${column} is null`, [projectId]), 1, table);
  }
  t.deepEqual(await shownOf(projectId), { users: [null, null], authors: [null], ids: [null] });
  t.deepEqual(await lastChanges(projectId), changes, 'nothing that may be very much is changed for it');
  const [project] = await app.rows('select star_count from projects where id = $1', [starred]);
  t.deepEqual(project, { star_count: 0 });

  const again = await remove(user);
  t.is(again.status, 200);
  t.is(again.body, null);
});

test('his name, his addresses and his keys are free at once, before the tasks have run', async (t) => {
  const { app } = holder;
  const user = await app.make.user({ username: 'phoenix' });
  await app.make.project({ owner: user });
  const key = { title: 'k', key: sshKeyLine('phoenix') };
  await app.call('POST', '/api/v3/user/keys', { as: user.token, form: key });
  await remove(user);
  const form = { username: 'Phoenix', email: 'phoenix@example.com', name: 'P', password: 'long enough' };
  const made = await app.call<{ id: number }>('POST', '/api/v3/users', { as: rootToken, form });
  t.is(made.status, 201);
  const added = await app.call('POST', `/api/v3/users/${made.body.id}/keys`, { as: rootToken, form: key });
  t.is(added.status, 201);
});

test('the tasks remove projects and namespace; a second server that does the same is in nobody’s way', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  const build = await app.make.build(project, { status: 'success', columns: { user_id: user.id } });
  await remove(user);
  await Promise.all([app.runAllTasks(), app.runAllTasks()]);
  await app.runAllTasks();
  t.is(await count('projects where id = $1', [project.id]), 0);
  t.is(await count('builds where id = $1', [build.id]), 0);
  t.is(await count('namespaces where id = $1', [user.namespaceId]), 0);
});

test('the only owner of a group stays, with everything as it was', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const own = await app.make.project({ owner: user });
  const group = await app.make.group();
  await app.make.groupMember(group, user, 'owner');
  const other = await app.make.user();
  await app.make.groupMember(group, other, 'master');
  const { projectId } = await leaveTraces(user);
  const answer = await remove(user);
  t.is(answer.status, 200);
  t.is(answer.body?.id, user.id);
  t.true(await isThere(user));
  t.is((await app.call('GET', `/api/v3/projects/${own.id}`, { as: user.token })).status, 200);
  t.is(await count('events where project_id = $1 and author_id = $2', [projectId, user.id]), 1);
  await app.rows('update group_members set access_level = 50 where group_id = $1', [group]);
  t.is((await remove(user)).body?.id, user.id);
  t.false(await isThere(user), 'with another owner he may go');
});

test('an owner stays while all other owners of a group are blocked; a blocked one may go', async (t) => {
  const { app } = holder;
  const [user, blocked] = [await app.make.user(), await app.make.user({ state: 'blocked' })];
  const group = await app.make.group();
  for (const owner of [user, blocked]) await app.make.groupMember(group, owner, 'owner');
  t.is((await remove(user)).status, 200);
  t.true(await isThere(user));
  await remove(blocked);
  t.false(await isThere(blocked));
});

test('a group that is being removed keeps nobody', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const group = await app.make.group();
  await app.make.groupMember(group, user, 'owner');
  await app.call('DELETE', `/api/v3/groups/${group}`, { as: user.token });
  await remove(user);
  t.false(await isThere(user));
});

test('of two owners who are removed at the same time, one stays', async (t) => {
  const { app } = holder;
  for (let round = 0; round < 5; round += 1) {
    const users = [await app.make.user(), await app.make.user()];
    const group = await app.make.group();
    for (const user of users) await app.make.groupMember(group, user, 'owner');
    const answers = await Promise.all(users.map(remove));
    t.deepEqual(
      answers.map(({ status, body }) => [status, body?.id]),
      users.map(({ id }) => [200, id]),
    );
    t.is(await count('group_members where group_id = $1 and access_level = 50', [group]), 1);
  }
});

test('a user who is removed twice at the same time is announced once, with his keys and projects', async (t) => {
  const { app } = holder;
  const [hook] = await app.rows<{ id: number }>(
    `insert into hooks (url) values ('http://127.0.0.1:1/') returning id`,
  );
  const user = await app.make.user();
  const key = { title: 'k', key: sshKeyLine('announced') };
  await app.call('POST', '/api/v3/user/keys', { as: user.token, form: key });
  await app.make.project({ owner: user });
  const answers = await Promise.all([remove(user), remove(user), remove(user)]);
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const told = await app.rows<{ event: string }>(
    `select body::json->>'event_name' as event from hook_deliveries where hook_id = $1
       and (body::json->>'username' = $2 or body::json->>'path_with_namespace' like $2 || '/%') order by id`,
    [hook?.id, user.username],
  );
  t.deepEqual(
    told.map(({ event }) => event),
    ['key_create', 'key_destroy', 'user_destroy', 'project_destroy'],
  );
});

test('a user who acts while he is removed gets an answer, and leaves nothing behind', async (t) => {
  const { app } = holder;
  const target = await app.make.project({ visibility: 'public' });
  for (let round = 0; round < 8; round += 1) {
    const user = await app.make.user();
    const act = (path: string, form: Record<string, string>) =>
      app.call('POST', `/api/v3${path}`, { as: user.token, form });
    const answers = await Promise.all([
      act('/projects', { name: `p${round}` }),
      act(`/projects/${target.id}/star`, {}),
      remove(user),
      act('/user/keys', { title: 'k', key: sshKeyLine(`acting ${round}`) }),
      act('/user/emails', { email: `acting${round}@example.com` }),
      act('/groups', { name: `g${round}`, path: `acting-group-${round}` }),
    ]);
    for (const { status, body } of answers) t.true(status < 500, JSON.stringify(body));
    // Who made a group in time is its only owner.
    if (await isThere(user)) t.is(answers[5]?.status, 201);
    else t.is(await count('namespaces where path = $1', [`acting-group-${round}`]), 0);
  }
  const [project] = await app.rows<{ star_count: number; stars: number }>(
    `select star_count, (select count(*)::int from stars where project_id = $1) as stars
     from projects where id = $1`,
    [target.id],
  );
  t.is(project?.star_count, project?.stars);
});

test('what a user began before he was removed, and would end after it, is not there', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const key = { title: 'k', key: sshKeyLine('too late') };
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select 1 from users where id = $1 for update', [user.id]);
    const late = [
      app.call('POST', '/api/v3/user/keys', { as: user.token, form: key }),
      app.call('POST', '/api/v3/user/emails', { as: user.token, form: { email: 'late@example.com' } }),
    ];
    await eventually(async () => (await waiters('%insert into keys%')) === 1);
    await eventually(async () => (await waiters('%insert into emails%')) === 1);
    await client.query('delete from namespaces where owner_id = $1', [user.id]);
    await client.query('delete from users where id = $1', [user.id]);
    await client.query('commit');
    for (const answer of await Promise.all(late)) {
      t.is(answer.status, 404);
      t.deepEqual(answer.body, { message: '404 Not found' });
    }
  } finally {
    await client.end();
  }
});

test('what a user stars while his removal waits for him is not counted when he is gone', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const starred = await app.make.project({ visibility: 'public' });
  const lock = await hold(t, 'select 1 from users where id = $1 for no key update', [user.id]);
  const removed = remove(user);
  await eventually(async () => (await waiters('%from users u where u.id = $1 for update of u%')) === 1);
  const star = await app.call('POST', `/api/v3/projects/${starred.id}/star`, { as: user.token });
  t.is(star.status, 201);
  await lock.release();
  t.is((await removed).status, 200);
  t.false(await isThere(user));
  const [project] = await app.rows<{ star_count: number }>('select star_count from projects where id = $1', [
    starred.id,
  ]);
  t.is(project?.star_count, 0);
});

test('no address, name, identity or key goes to two users who ask at the same time', async (t) => {
  const { app } = holder;
  const users = await Promise.all([1, 2, 3].map(() => app.make.user()));
  for (let round = 0; round < 4; round += 1) {
    const email = `wanted${round}@example.com`;
    const make = (username: string, more: Record<string, string> = {}) =>
      app.call('POST', '/api/v3/users', {
        as: rootToken,
        form: {
          username,
          name: 'W',
          email: `${username}@wanted.example`,
          password: 'long enough',
          ...more,
        },
      });
    const wanting = await Promise.all([
      ...users.map(({ token }) => app.call('POST', '/api/v3/user/emails', { as: token, form: { email } })),
      make(`by-post-${round}`, { email }),
      app.call('PUT', `/api/v3/users/${users[0]?.id}`, { as: rootToken, form: { email } }),
    ]);
    for (const { status } of wanting) t.true([200, 201, 400, 404, 409].includes(status), String(status));
    t.is(
      (await count('users where email = $1', [email])) + (await count('emails where email = $1', [email])),
      1,
    );
    const named = await Promise.all(
      [1, 2, 3].map((n) => make(`Same-${round}`, { email: `${round}.${n}@x.example` })),
    );
    t.deepEqual(named.map(({ status }) => status).sort(), [201, 409, 409]);
    const identity = { provider: 'directory', extern_uid: `uid ${round}` };
    const known = await Promise.all([1, 2, 3].map((n) => make(`known-${round}-${n}`, identity)));
    t.deepEqual(known.map(({ status }) => status).sort(), [201, 400, 400]);
    const key = { title: 'k', key: sshKeyLine(`wanted ${round}`) };
    const keys = await Promise.all(
      users.map(({ token }) => app.call('POST', '/api/v3/user/keys', { as: token, form: key })),
    );
    t.deepEqual(keys.map(({ status }) => status).sort(), [201, 400, 400]);
  }
});

test('every column that names a user has an index, so that a removal reads no whole table', async (t) => {
  const without = await holder.app.rows(
    `select c.conrelid::regclass::text as table, a.attname as column from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.confrelid in ('users'::regclass, 'keys'::regclass) and not exists (
       select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])`,
  );
  t.deepEqual(without, []);
});

test('a user who is not there', async (t) => {
  t.is((await remove({ id: 999_999 })).body, null);
  const none = await holder.app.call('DELETE', '/api/v3/users/root', { as: rootToken });
  t.is(none.status, 404);
});
