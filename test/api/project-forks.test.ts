import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, rootToken } from '../support/app.ts';
import { cloneUrl } from '../support/git.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, trees, filled } = withPushes();

type Project = Record<string, unknown> & { id: number; path_with_namespace: string; message?: unknown };
const taken = { name: ['has already been taken'], path: ['has already been taken'] };

function fork(user: MadeUser | null, source: { id: number }, namespace?: string): Promise<Answer<Project>> {
  const form: Record<string, string> = namespace === undefined ? {} : { namespace };
  return holder.app.call<Project>('POST', `/api/v3/projects/fork/${source.id}`, {
    as: user?.token ?? rootToken,
    form,
  });
}

function get(id: number): Promise<Answer<Project>> {
  return holder.app.call<Project>('GET', `/api/v3/projects/${id}`, { as: rootToken });
}

function dirOf({ id }: { id: number }): string {
  return repositoryDir(holder.app.services.repositoriesDir, id);
}

/** A public project with something in it. */
async function source(columns: Record<string, unknown> = {}): Promise<MadeProject> {
  const { project } = await filled();
  const values = { visibility_level: 20, ...columns };
  for (const [name, value] of Object.entries(values)) {
    await holder.app.rows(`update projects set ${name} = $2 where id = $1`, [project.id, value]);
  }
  return project;
}

test('a fork is a project of its own, with what describes its source and its branches', async (t) => {
  const { make, rows } = holder.app;
  const parent = await source({
    description: 'Text',
    builds_enabled: false,
    shared_runners_enabled: false,
    public_builds: false,
    build_timeout: 77,
    issues_enabled: false,
    snippets_enabled: true,
  });
  const user = await make.user();
  const { status, body } = await fork(user, parent);
  t.is(status, 201);
  t.like(body, {
    name: parent.path,
    path: parent.path,
    path_with_namespace: `${user.username}/${parent.path}`,
    description: 'Text',
    default_branch: 'master',
    visibility_level: 20,
    builds_enabled: false,
    shared_runners_enabled: false,
    public_builds: false,
    issues_enabled: true,
    snippets_enabled: false,
    creator_id: user.id,
    forks_count: 0,
    star_count: 0,
    forked_from_project: { id: parent.id, path_with_namespace: parent.fullPath },
  });
  t.regex(String(body.runners_token), /^[\w-]{20}$/);
  t.not(body.runners_token, parent.runnersToken);
  t.false('permissions' in body);
  t.is((await get(parent.id)).body.forks_count, 1);
  t.deepEqual(await rows('select build_timeout from projects where id = $1', [body.id]), [
    { build_timeout: 77 },
  ]);
  t.deepEqual(
    await rows('select user_id, access_level from project_members where project_id = $1', [body.id]),
    [{ user_id: user.id, access_level: 40 }],
  );
  t.deepEqual(await rows('select author_id, action from events where project_id = $1', [body.id]), [
    { author_id: user.id, action: 'created' },
  ]);
  t.deepEqual(await rows('select 1 from pipelines where project_id = $1', [body.id]), []);
  const place = { fullPath: body.path_with_namespace };
  const tree = await trees.clone(cloneUrl(holder.app, place, { password: user.token }));
  t.is(await tree.head(), await git(dirOf(parent), 'rev-parse', 'master'));
});

test('a push to a fork starts a pipeline in it, and changes nothing in its source', async (t) => {
  const parent = await source();
  const before = await git(dirOf(parent), 'for-each-ref');
  const user = await holder.app.make.user();
  const { body } = await fork(user, parent);
  const tree = await trees.clone(
    cloneUrl(holder.app, { fullPath: body.path_with_namespace }, { password: user.token }),
  );
  const sha = await tree.commit({ own: 'x' });
  await tree.git('push', '--quiet', 'origin', 'master');
  t.deepEqual(await holder.app.rows('select sha from pipelines where project_id = $1', [body.id]), [{ sha }]);
  t.is(await git(dirOf(parent), 'for-each-ref'), before);
});

test('who may read the code may fork; a project that cannot be seen is not there', async (t) => {
  const { make } = holder.app;
  const hidden = await source({ visibility_level: 0 });
  t.is((await fork(await make.user(), hidden)).status, 404);
  t.is((await fork(await make.member(hidden, 'guest'), hidden)).status, 403);
  t.is((await fork(await make.member(hidden, 'reporter'), hidden)).status, 201);
  const internal = await source({ visibility_level: 10 });
  t.is((await fork(await make.user(), internal)).status, 201);
  t.is((await fork(await make.user({ external: true }), internal)).status, 404);
  t.is((await fork(await make.user(), { id: 999_999 })).status, 404);
  const anonymous = await holder.app.call('POST', `/api/v3/projects/fork/${internal.id}`);
  t.is(anonymous.status, 401);
});

test('a name or path that is taken is a conflict; so is forking twice, and forking the own project', async (t) => {
  const parent = await source();
  const user = await holder.app.make.user();
  t.is((await fork(user, parent)).status, 201);
  for (const who of [user, parent.owner]) {
    const again = await fork(who, parent);
    t.is(again.status, 409);
    t.deepEqual(again.body, { message: taken } as never);
  }
  const other = await holder.app.make.user();
  await holder.app.make.project({ owner: other, columns: { name: parent.path, path: 'elsewhere' } });
  t.is((await fork(other, parent)).status, 409);
  t.is((await get(parent.id)).body.forks_count, 1);
});

test('forks count against the limit', async (t) => {
  const parent = await source();
  const user = await holder.app.make.user({ projectsLimit: 0 });
  const refused = await fork(user, parent);
  t.is(refused.status, 403);
  t.is(
    refused.body.message,
    'Your project limit is 0 projects! Please contact your administrator to increase it',
  );
});

test('another namespace, by id or path, for those who may make projects in it', async (t) => {
  const { make } = holder.app;
  const parent = await source();
  const user = await make.user();
  const [byId, byPath, closed] = [
    await make.group({ path: 'forks-by-id' }),
    await make.group({ path: 'Forks.By-Path' }),
    await make.group({ path: 'forks-closed' }),
  ];
  for (const group of [byId, byPath]) await make.groupMember(group, user, 'master');
  await make.groupMember(closed, user, 'developer');
  const first = await fork(user, parent, String(byId));
  t.is(first.status, 201);
  t.is(first.body.path_with_namespace, `forks-by-id/${parent.path}`);
  t.false('owner' in first.body);
  const second = await fork(user, parent, 'forks.by-path');
  t.is(second.body.path_with_namespace, `Forks.By-Path/${parent.path}`);
  for (const name of ['forks-closed', String(closed), 'no-such', '999999', (await make.user()).username]) {
    const refused = await fork(user, parent, name);
    t.is(refused.status, 404, name);
    t.is(refused.body.message, '404 Target Namespace Not Found');
  }
});

test('no more visible than the source and the group', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  for (const [visibility, level] of [
    ['private', 0],
    ['internal', 10],
    ['public', 20],
  ] as const) {
    const group = await make.group({ visibility });
    await make.groupMember(group, user, 'owner');
    t.is((await fork(user, await source(), String(group))).body.visibility_level, level);
    const internal = await fork(user, await source({ visibility_level: 10 }), String(group));
    t.is(internal.body.visibility_level, Math.min(level, 10));
  }
});

test.serial('levels that the administrator has restricted are not taken over', async (t) => {
  const { make, rows } = holder.app;
  const [parent, user] = [await source(), await make.user()];
  t.teardown(() => rows(`update settings set restricted_visibility_levels = '{}'`).then(() => {}));
  await rows(`update settings set restricted_visibility_levels = '{20,10}'`);
  t.is((await fork(user, parent)).body.visibility_level, 0);
  await rows(`update settings set restricted_visibility_levels = '{20}'`);
  t.is((await fork(await make.user(), parent)).body.visibility_level, 10);
  t.is((await fork(null, parent)).body.visibility_level, 20);
});

test.serial(
  'of many who fork at once into one place, one gets it, and the others leave nothing',
  async (t) => {
    const parent = await source();
    const user = await holder.app.make.user();
    const answers = await Promise.all(Array.from({ length: 6 }, () => fork(user, parent)));
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
    t.is((await get(parent.id)).body.forks_count, 1);
    t.deepEqual(await leftovers(), []);
  },
);

test('a source that was removed gives no fork', async (t) => {
  const parent = await source();
  await holder.app.rows('update projects set pending_delete = true where id = $1', [parent.id]);
  t.is((await fork(await holder.app.make.user(), parent)).status, 404);
});

test('a source that is being imported is not forked yet', async (t) => {
  const parent = await source({ import_status: 'started' });
  const refused = await fork(await holder.app.make.user(), parent);
  t.is(refused.status, 409);
  t.is(refused.body.message, 'The project is being imported');
});

test('the fork stays whole when its source is removed, and no longer names it', async (t) => {
  const { app } = holder;
  const parent = await source();
  const { body } = await fork(await app.make.user(), parent);
  t.is((await app.call('DELETE', `/api/v3/projects/${parent.id}`, { as: rootToken })).status, 200);
  await app.runAllTasks();
  await t.throwsAsync(stat(dirOf(parent)), { code: 'ENOENT' });
  await t.notThrowsAsync(git(dirOf(body), 'fsck', '--full', '--strict'));
  const left = await get(body.id);
  t.is(left.status, 200);
  t.false('forked_from_project' in left.body);
});

test('what a crash left of a fork is swept away once nobody can be at work on it', async (t) => {
  const { app } = holder;
  const parent = await source();
  const { body } = await fork(await app.make.user(), parent);
  const root = app.services.repositoriesDir;
  // As a server leaves it that dies before the commit, and one that dies after it.
  const lost = 2_000_000;
  await git(root, 'clone', '--bare', '--quiet', dirOf(parent), dirOf({ id: lost }));
  const places = [`fork-${lost}-a`, `fork-${body.id}-b`, `import-${body.id}-c`, `fork-${body.id}-fresh`];
  for (const place of places)
    await git(root, 'init', '--bare', '--quiet', join('staging', place, 'repository.git'));
  const old = new Date(Date.now() - 7 * 3_600_000);
  for (const place of places.slice(0, 3)) await utimes(join(root, 'staging', place), old, old);
  await app.services.queue.add(app.work.em, 'sweep_stagings', {});
  await app.runTasks();
  await t.throwsAsync(stat(dirOf({ id: lost })), { code: 'ENOENT' });
  await t.notThrowsAsync(stat(dirOf(body)));
  t.deepEqual(
    (await readdir(join(root, 'staging'))).filter((name) => places.includes(name)),
    [`fork-${body.id}-fresh`],
  );
});

test('a relation is made by administrators, once, and undone by the owner', async (t) => {
  const { make, call } = holder.app;
  const [parent, user] = [await source(), await make.user()];
  const project = await make.project({ owner: user });
  const link = (as: string, id: number, from: number) =>
    call<Project>('POST', `/api/v3/projects/${id}/fork/${from}`, { as });
  t.is((await link(user.token, project.id, parent.id)).status, 403);
  const linked = await link(rootToken, project.id, parent.id);
  t.is(linked.status, 201);
  t.like(linked.body, { id: project.id, forked_from_project: { id: parent.id } });
  t.is((await get(parent.id)).body.forks_count, 1);
  const again = await link(rootToken, project.id, parent.id);
  t.is(again.status, 409);
  t.is(again.body.message, 'Project already forked');
  const unlink = (as: string) => call<Project>('DELETE', `/api/v3/projects/${project.id}/fork`, { as });
  t.is((await unlink((await make.member(project, 'master')).token)).status, 403);
  for (const _ of ['the first time', 'again']) {
    const unlinked = await unlink(user.token);
    t.is(unlinked.status, 200);
    t.false('forked_from_project' in unlinked.body);
    t.is((await get(parent.id)).body.forks_count, 0);
  }
});

test('a relation needs two projects, and makes no circle', async (t) => {
  const { make, call } = holder.app;
  const [parent, child, grandchild] = [await make.project(), await make.project(), await make.project()];
  const link = (id: number | string, from: number | string) =>
    call<Project>('POST', `/api/v3/projects/${id}/fork/${from}`, { as: rootToken });
  for (const from of [999_999, 'x']) t.is((await link(parent.id, from)).status, 404);
  t.is((await link(parent.id, 999_999)).body.message, '404 Source Project Not Found');
  t.is((await link(999_999, parent.id)).body.message, '404 Project Not Found');
  t.is((await link(encodeURIComponent(child.fullPath), parent.id)).status, 201);
  t.is((await link(grandchild.id, child.id)).status, 201);
  for (const from of [parent.id, child.id, grandchild.id]) t.is((await link(parent.id, from)).status, 409);
});

/** Repositories that belong to no project. */
async function leftovers(): Promise<unknown[]> {
  const root = holder.app.services.repositoriesDir;
  const known = await holder.app.rows<{ id: number }>('select id from projects');
  const ids = new Set(known.map(({ id }) => `${id}.git`));
  const found: string[] = [];
  for (const first of await readdir(root)) {
    if (first === 'staging') continue;
    for (const second of await readdir(join(root, first)))
      found.push(...(await readdir(join(root, first, second))));
  }
  return found.filter((name) => !ids.has(name));
}
