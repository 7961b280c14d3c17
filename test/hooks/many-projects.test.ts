import test, { type ExecutionContext } from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { countStatements } from '../support/count-statements.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';

const holder = withApp();
const receiver = withReceiver();
const many = 90;
let mails: MailServer;
let used = 0;

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
  mails = await startMailServer();
});
test.after.always(() => mails.close());

interface Told {
  event_name: string;
  project_id?: number;
  path_with_namespace?: string;
  old_path_with_namespace?: string;
}

/** Two hooks of the system, and what each of them has heard. */
async function twoHooks(t: ExecutionContext): Promise<() => Promise<Told[][]>> {
  const { app } = holder;
  used += 1;
  const paths = ['a', 'b'].map((name) => `/${name}${used}`);
  const ids: number[] = [];
  for (const path of paths) {
    const json = { url: receiver.url(path) };
    ids.push((await app.call<{ id: number }>('POST', '/api/v3/hooks', { as: rootToken, json })).body.id);
  }
  t.teardown(() => app.rows('delete from hooks where id = any($1)', [ids]));
  return async () => {
    await app.runTasks();
    return paths.map((path) => receiver.at<Told & Record<string, unknown>>(path).map(({ body }) => body));
  };
}

/** Ids and paths, oldest first. Without repositories, which nobody needs here. */
async function addProjects(namespaceId: number, count: number): Promise<{ id: number; path: string }[]> {
  return holder.app.rows(
    `insert into projects (namespace_id, name, path, runners_token_digest, runners_token_sealed)
     select $1::int, 'p' || n, 'p' || n, sha256(($1::int || '/' || n)::bytea), '' from generate_series(1, $2::int) n
     returning id, path`,
    [namespaceId, count],
  );
}

async function pathOf(namespaceId: number): Promise<string> {
  const [row] = await holder.app.rows<{ path: string }>('select path from namespaces where id = $1', [
    namespaceId,
  ]);
  return row?.path ?? '';
}

async function succeed(method: string, path: string, form: Record<string, string> = {}): Promise<void> {
  const answer = await holder.app.call(method, `/api/v3${path}`, { as: rootToken, form });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

test.serial('a group goes with many projects in as many statements as with one', async (t) => {
  const { make, rows } = holder.app;
  const told = await twoHooks(t);
  const counts: number[] = [];
  const expected: Told[] = [];
  for (const size of [1, many]) {
    const groupId = await make.group();
    const path = await pathOf(groupId);
    const projects = await addProjects(groupId, size);
    counts.push(await countStatements(() => succeed('DELETE', `/groups/${groupId}`)));
    expected.push({ event_name: 'group_destroy' });
    for (const project of projects) {
      expected.push({
        event_name: 'project_destroy',
        project_id: project.id,
        path_with_namespace: `${path}/${project.path}`,
      });
    }
    const shown = 'select 1 from projects where namespace_id = $1 and not pending_delete';
    t.deepEqual(await rows(shown, [groupId]), []);
    const tasks = await rows('select 1 from graphile_worker.jobs where key = any($1)', [
      projects.map(({ id }) => `purge_project:${id}`),
    ]);
    t.is(tasks.length, size);
  }
  t.is(counts[1], counts[0]);
  for (const heard of await told()) {
    t.is(heard.length, expected.length);
    for (const [index, body] of heard.entries()) t.like(body, { ...expected[index] });
  }
  const left = await rows("select 1 from projects where path like 'p%' and pending_delete");
  t.deepEqual(left, [], 'the tasks have removed them');
});

test.serial('a group with another path moves all its projects, which the hooks are told', async (t) => {
  const { make } = holder.app;
  const told = await twoHooks(t);
  const counts: number[] = [];
  const expected: Told[] = [];
  for (const size of [1, many]) {
    const groupId = await make.group();
    const path = await pathOf(groupId);
    const projects = await addProjects(groupId, size);
    await succeed('PUT', `/groups/${groupId}`, { name: `Named ${size}`, path });
    counts.push(await countStatements(() => succeed('PUT', `/groups/${groupId}`, { path: `moved-${size}` })));
    expected.push(...projects.map((project) => moved(project, path, `moved-${size}`)));
  }
  t.is(counts[1], counts[0]);
  for (const heard of await told()) {
    t.is(heard.length, expected.length, 'nothing is told while the path stays');
    for (const [index, body] of heard.entries()) t.like(body, { ...expected[index] });
  }
  const [first] = (await told())[0] ?? [];
  const rest = {
    owner_name: 'Named 1',
    owner_email: '',
    project_visibility: 'private',
    name: 'p1',
    path: 'p1',
  };
  t.like(first, rest);
});

test.serial('a user with another name moves all his projects: hooks and members are told', async (t) => {
  const { app } = holder;
  app.services.mail = mails.mailer();
  const told = await twoHooks(t);
  const counts: number[] = [];
  const expected: Told[] = [];
  for (const size of [1, many]) {
    const user = await app.make.user();
    const projects = await addProjects(user.namespaceId, size);
    await addHidden(user.namespaceId);
    counts.push(
      await countStatements(() => succeed('PUT', `/users/${user.id}`, { username: `moved-user-${size}` })),
    );
    expected.push(...projects.map((project) => moved(project, user.username, `moved-user-${size}`)));
  }
  t.is(counts[1], counts[0]);
  const queued = await app.rows<{ id: number; old: string }>(
    `select (payload->'news'->>'projectId')::int as id, payload->'news'->>'oldPath' as old
     from graphile_worker._private_jobs where payload->'news'->>'kind' = 'project_moved' order by 1`,
  );
  app.services.mail = null;
  t.deepEqual(
    queued,
    expected.map(({ project_id: id, old_path_with_namespace: old }) => ({ id, old }) as never),
  );
  for (const heard of await told()) {
    t.is(heard.length, expected.length);
    for (const [index, body] of heard.entries()) t.like(body, { ...expected[index] });
  }
  const rest = { name: 'p1', path: 'p1', project_visibility: 'private' };
  t.like((await told())[0]?.[0], rest);
});

test.serial('a hook gets as many of many messages as it has room for, the first ones', async (t) => {
  const { app } = holder;
  const hooks = await app.rows<{ id: number }>(
    "insert into hooks (url) values ('http://127.0.0.1:1/'), ('http://127.0.0.1:1/') returning id",
  );
  const ids = hooks.map(({ id }) => id);
  t.teardown(() => app.rows('delete from hooks where id = any($1)', [ids]));
  await app.rows(
    `insert into hook_deliveries (hook_id, event, body, due_at)
     select $1, 'x', '{"event_name": "x"}', now() + interval '1 day' from generate_series(1, 997)`,
    [ids[0]],
  );
  const groupId = await app.make.group();
  const projects = await addProjects(groupId, 5);
  await succeed('DELETE', `/groups/${groupId}`);
  const heard = await app.rows<{ hook_id: number; id: number | null }>(
    `select hook_id, (body::json->>'project_id')::int as id from hook_deliveries
     where hook_id = any($1) and event <> 'x' and state = 'waiting' order by hook_deliveries.id`,
    [ids],
  );
  const of = (hookId: number | undefined) =>
    heard.filter(({ hook_id }) => hook_id === hookId).map(({ id }) => id);
  t.deepEqual(of(ids[0]), [null, ...projects.slice(0, 2).map(({ id }) => id)]);
  t.deepEqual(of(ids[1]), [null, ...projects.map(({ id }) => id)]);
  const left = `select hook_id from hook_deliveries where hook_id = any($1) and state = 'dropped'`;
  t.deepEqual(await app.rows(left, [ids]), [{ hook_id: ids[0] }]);
});

function moved({ id, path }: { id: number; path: string }, from: string, to: string): Told {
  return {
    event_name: 'project_rename',
    project_id: id,
    path_with_namespace: `${to}/${path}`,
    old_path_with_namespace: `${from}/${path}`,
  };
}

/** A project that is being removed: it moves no more. */
async function addHidden(namespaceId: number): Promise<void> {
  await holder.app.rows(
    `insert into projects (namespace_id, name, path, pending_delete, runners_token_digest, runners_token_sealed)
     values ($1::int, 'hidden', 'hidden', true, sha256(($1::int || '/hidden')::bytea), '')`,
    [namespaceId],
  );
}
