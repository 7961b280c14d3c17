import test from 'ava';
import { apiCalls, messageOf, statusesOf } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

// As many connections as requests, so that they really meet in the database.
const holder = withApp({ poolSize: 6 });

interface Thing {
  id: number;
  path: string;
  visibility_level: number;
  path_with_namespace: string;
}

const call = apiCalls<Thing>(holder);

interface Owned {
  id: number;
  path: string;
  owner: MadeUser;
}

async function ownedGroup(given: { visibility?: 'private' | 'internal' | 'public' } = {}): Promise<Owned> {
  const { make, rows } = holder.app;
  const id = await make.group(given);
  const owner = await make.user();
  await make.groupMember(id, owner, 'owner');
  const [row] = await rows<{ path: string }>('select path from namespaces where id = $1', [id]);
  return { id, path: row?.path ?? '', owner };
}

async function namespacesLeft(id: number): Promise<number> {
  return (await holder.app.rows('select 1 from namespaces where id = $1', [id])).length;
}

test.serial(
  'a removed group is gone for everybody at once, with its projects, and its names are free',
  async (t) => {
    const { make, runAllTasks } = holder.app;
    const group = await ownedGroup();
    const project = await make.project({ namespaceId: group.id, visibility: 'public' });
    const shared = await make.project();
    await make.share(shared, group.id, 'master');
    t.is((await call('GET', `/projects/${shared.id}`, group.owner.token)).status, 200);

    const removed = await call('DELETE', `/groups/${group.id}`, group.owner.token);
    t.is(removed.status, 200);
    t.like(removed.body, { id: group.id, path: group.path });
    for (const token of [group.owner.token, rootToken]) {
      for (const path of [
        `/groups/${group.id}`,
        `/groups/${group.path}`,
        `/groups/${group.id}.`,
        `/projects/${project.id}`,
        `/projects/${group.path}%2F${project.path}`,
        `/projects/${group.id}.%2F${project.path}`,
      ]) {
        t.is((await call('GET', path, token)).status, 404, path);
      }
      t.is((await call('DELETE', `/groups/${group.id}`, token)).status, 404);
      const left = [...(await all('/groups', token)), ...(await all('/namespaces', token))];
      t.false(left.includes(group.id));
    }
    t.is((await call('GET', `/projects/${shared.id}`, group.owner.token)).status, 404, 'shares end with it');
    const inIt = { name: 'late', namespace_id: group.id };
    t.deepEqual(messageOf(await call('POST', '/projects', rootToken, inIt)), { namespace: ['is not valid'] });
    const again = await call('POST', '/groups', group.owner.token, { name: group.path, path: group.path });
    t.is(again.status, 201);
    await runAllTasks();
    t.is(await namespacesLeft(again.body.id), 1);
  },
);

test.serial('its row stays until its last project is purged', async (t) => {
  const { make, runTasks, runAllTasks, rows } = holder.app;
  const group = await ownedGroup();
  const project = await make.project({ namespaceId: group.id });
  await call('DELETE', `/groups/${group.id}`, rootToken);
  // As if the projects took long.
  const hold = (locked: boolean) =>
    rows(
      `update graphile_worker._private_jobs set locked_at = ${locked ? 'now()' : 'null'},
         locked_by = ${locked ? "'somebody'" : 'null'} where key = $1`,
      [`purge_project:${project.id}`],
    );
  await hold(true);
  await runTasks();
  t.is(await namespacesLeft(group.id), 1);
  await hold(false);
  await runAllTasks();
  await runAllTasks();
  t.is((await rows('select 1 from projects where id = $1', [project.id])).length, 0);
  t.is(await namespacesLeft(group.id), 0);
});

test.serial('a group without projects goes with the first task', async (t) => {
  const group = await ownedGroup();
  await call('DELETE', `/groups/${group.path}`, group.owner.token);
  t.is(await namespacesLeft(group.id), 1);
  await holder.app.runTasks();
  t.is(await namespacesLeft(group.id), 0);
});

test.serial('of several who remove a group, one does; no project is made in it meanwhile', async (t) => {
  const { rows, runAllTasks } = holder.app;
  for (let round = 0; round < 5; round += 1) {
    const group = await ownedGroup();
    const { token } = group.owner;
    const answers = await Promise.all([
      call('POST', '/projects', token, { name: 'a', namespace_id: group.id }),
      call('DELETE', `/groups/${group.id}`, token),
      call('POST', '/projects', token, { name: 'b', namespace_id: group.id }),
      call('DELETE', `/groups/${group.id}`, rootToken),
      call('POST', '/projects', rootToken, { name: 'c', namespace_id: group.id }),
    ]);
    t.deepEqual(statusesOf(answers.filter((_, index) => index % 2 === 1)), [200, 404]);
    const shown = await rows('select 1 from projects where namespace_id = $1 and not pending_delete', [
      group.id,
    ]);
    t.deepEqual(shown, [], 'no project stays without its group');
    await runAllTasks();
    await runAllTasks();
    t.is(await namespacesLeft(group.id), 0);
  }
});

test.serial(
  'an administrator moves a project into a group; who sees it is lowered, with its forks',
  async (t) => {
    const { make, rows } = holder.app;
    const group = await ownedGroup({ visibility: 'internal' });
    const project = await make.project({ visibility: 'public' });
    const fork = await make.project({ visibility: 'public', columns: { forked_from_id: project.id } });
    const forkOfFork = await make.project({ visibility: 'public', columns: { forked_from_id: fork.id } });
    await make.share(project, group.id, 'guest');
    t.is((await call('POST', `/groups/${group.id}/projects/${project.id}`, group.owner.token)).status, 403);
    const moved = await call('POST', `/groups/${group.path}/projects/${project.id}`, rootToken);
    t.is(moved.status, 201);
    t.like(moved.body, { id: group.id, path: group.path });
    const seen = await call('GET', `/projects/${group.path}%2F${project.path}`, group.owner.token);
    t.is(seen.body.id, project.id);
    t.is((await call('GET', `/projects/${project.owner.username}%2F${project.path}`, rootToken)).status, 404);
    const levels = await rows<{ visibility_level: number }>(
      'select visibility_level from projects where id = any($1) order by id',
      [[project.id, fork.id, forkOfFork.id]],
    );
    t.deepEqual(
      levels.map(({ visibility_level }) => visibility_level),
      [10, 10, 10],
    );
    const shares = await rows('select 1 from project_shares where project_id = $1', [project.id]);
    t.deepEqual(shares, [], 'the group needs no share any more');
    t.is((await call('PUT', `/projects/${project.id}`, group.owner.token, { name: 'ours' })).status, 200);
  },
);

test.serial('a project is moved by its path too, from group to group', async (t) => {
  const from = await ownedGroup();
  const to = await ownedGroup({ visibility: 'private' });
  const project = await holder.app.make.project({ namespaceId: from.id, visibility: 'public' });
  const path = `/groups/${to.id}/projects/${from.path}%2F${project.path}`;
  t.is((await call('POST', path, rootToken)).status, 201);
  t.is((await call('GET', `/projects/${project.id}`, from.owner.token)).status, 404);
  const seen = await call('GET', `/projects/${project.id}`, to.owner.token);
  t.is(seen.body.path_with_namespace, `${to.path}/${project.path}`);
  t.is(seen.body.visibility_level, 0);
});

test.serial('what cannot be moved', async (t) => {
  const { make } = holder.app;
  const group = await ownedGroup();
  const inIt = await make.project({ namespaceId: group.id, columns: { name: 'N', path: 'taken' } });
  const samePath = await make.project({ columns: { name: 'other', path: 'TAKEN' } });
  const sameName = await make.project({ columns: { name: 'N', path: 'free' } });
  const move = (project: number | string, to: number | string = group.id) =>
    call('POST', `/groups/${to}/projects/${project}`, rootToken);
  const reason = (text: string) => `Failed to transfer project {:new_namespace=>["${text}"]}`;
  for (const [project, text] of [
    [inIt.id, 'is invalid'],
    [samePath.id, 'Project with same path in target namespace already exists'],
    [sameName.id, 'Project with same name in target namespace already exists'],
  ] as const) {
    const answer = await move(project);
    t.is(answer.status, 400);
    t.is(messageOf(answer), reason(text));
  }
  for (const nothing of [2_000_000_000, 'no%2Fsuch', 'x']) {
    const answer = await move(nothing);
    t.is(answer.status, 404);
    t.is(messageOf(answer), '404 Project Not Found');
  }
  for (const noGroup of ['no-group', samePath.owner.namespaceId]) {
    t.is(messageOf(await move(samePath.id, noGroup)), '404 Group Not Found');
  }
});

test.serial('a project is never shown to more people than its group, whatever meets', async (t) => {
  const { make, rows } = holder.app;
  for (let round = 0; round < 5; round += 1) {
    const group = await ownedGroup();
    const project = await make.project({ visibility: 'public' });
    const own = await make.project({ namespaceId: group.id });
    await Promise.all([
      call('POST', `/groups/${group.id}/projects/${project.id}`, rootToken),
      call('PUT', `/groups/${group.id}`, rootToken, { visibility_level: 0 }),
      call('PUT', `/projects/${own.id}`, rootToken, { visibility_level: 20 }),
      call('POST', '/projects', group.owner.token, {
        name: 'n',
        namespace_id: group.id,
        visibility_level: 20,
      }),
    ]);
    const higher = await rows(
      `select p.id from projects p join namespaces n on n.id = p.namespace_id
       where n.id = $1 and p.visibility_level > n.visibility_level`,
      [group.id],
    );
    t.deepEqual(higher, []);
  }
});

async function all(path: string, as: string): Promise<number[]> {
  return (await call<Thing[]>('GET', `${path}?per_page=100`, as)).body.map(({ id }) => id);
}
