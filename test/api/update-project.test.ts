import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

type Project = Record<string, unknown> & { id: number; message?: unknown };

function update(id: number, as: MadeUser | null, json: Record<string, unknown>): Promise<Answer<Project>> {
  return holder.app.call<Project>('PUT', `/api/v3/projects/${id}`, { as: as?.token ?? rootToken, json });
}

test('what is given changes, the rest stays; the answer has the token for runners', async (t) => {
  const project = await holder.app.make.project({ columns: { description: 'old', wiki_enabled: false } });
  const { owner } = project;
  const change = {
    name: 'New Name',
    path: 'new-path',
    description: 'new',
    issues_enabled: false,
    merge_requests_enabled: false,
    builds_enabled: false,
    snippets_enabled: true,
    shared_runners_enabled: false,
    public_builds: false,
    visibility_level: 20,
  };
  const first = await update(project.id, owner, change);
  t.is(first.status, 200);
  t.like(first.body, { ...change, public: true, wiki_enabled: false, runners_token: project.runnersToken });
  t.like(first.body, { path_with_namespace: `${owner.username}/new-path` });
  t.false('permissions' in first.body);
  const second = await update(project.id, owner, { description: '', issues_enabled: 'true', name: null });
  t.like(second.body, { ...change, issues_enabled: true }, 'blank and null change nothing');
  const moved = await holder.app.call('GET', `/api/v3/projects/${owner.username}%2Fnew-path`, {
    as: owner.token,
  });
  t.is(moved.status, 200);
  const old = await holder.app.call('GET', `/api/v3/projects/${encodeURIComponent(project.fullPath)}`, {
    as: owner.token,
  });
  t.is(old.status, 404);
});

test('nothing given is nothing changed', async (t) => {
  const project = await holder.app.make.project();
  const before = await holder.app.call<Project>('GET', `/api/v3/projects/${project.id}`, {
    as: project.owner.token,
  });
  const answer = await update(project.id, project.owner, {});
  const { permissions, import_status, import_error, ...shown } = before.body;
  t.deepEqual(answer.body, shown);
  t.deepEqual([import_status, import_error], ['none', null]);
  t.truthy(permissions);
});

test('a path changes by its encoded path too', async (t) => {
  const project = await holder.app.make.project();
  const path = `/api/v3/projects/${encodeURIComponent(project.fullPath)}`;
  const answer = await holder.app.call<Project>('PUT', path, {
    as: project.owner.token,
    form: { description: 'by path' },
  });
  t.is(answer.body.description, 'by path');
});

test('masters change everything but name and visibility', async (t) => {
  const project = await holder.app.make.project();
  const master = await holder.app.make.member(project, 'master');
  const allowed = await update(project.id, master, {
    path: 'by-master',
    description: 'd',
    wiki_enabled: false,
  });
  t.is(allowed.status, 200);
  for (const change of [{ name: 'other' }, { visibility_level: 20 }, { public: true }]) {
    const refused = await update(project.id, master, { ...change, description: 'must not stay' });
    t.is(refused.status, 403, JSON.stringify(change));
    t.deepEqual(refused.body, { message: '403 Forbidden' } as never);
  }
  const same = await update(project.id, master, { name: project.path, visibility_level: 0, public: false });
  t.is(same.status, 200, 'what is as it was is no change');
  t.is(same.body.description, 'd');
});

test('owners of the group and administrators may all of it; a master of the group may not', async (t) => {
  const { make } = holder.app;
  const group = await make.group();
  const [owner, master] = [await make.user(), await make.user()];
  await make.groupMember(group, owner, 'owner');
  await make.groupMember(group, master, 'master');
  const project = await make.project({ namespaceId: group });
  t.is((await update(project.id, master, { name: 'x' })).status, 403);
  t.is((await update(project.id, owner, { name: 'by owner', visibility_level: 10 })).status, 200);
  t.is((await update(project.id, null, { name: 'by admin', visibility_level: 20 })).status, 200);
});

test('others may not, and strangers see nothing', async (t) => {
  const { make } = holder.app;
  const [hidden, open] = [await make.project(), await make.project({ visibility: 'public' })];
  for (const level of ['guest', 'reporter', 'developer'] as const) {
    t.is(
      (await update(hidden.id, await make.member(hidden, level), { description: 'x' })).status,
      403,
      level,
    );
  }
  const stranger = await make.user();
  t.is((await update(hidden.id, stranger, { description: 'x' })).status, 404);
  t.is((await update(open.id, stranger, { description: 'x' })).status, 403);
  const answer = await holder.app.call('PUT', `/api/v3/projects/${open.id}`, { json: { description: 'x' } });
  t.is(answer.status, 401);
});

test('the right is looked at before the attributes', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  t.is((await update(project.id, await holder.app.make.user(), { visibility_level: 'x' })).status, 403);
});

test('invalid attributes change nothing at all', async (t) => {
  const { make } = holder.app;
  const owner = await make.user();
  const [project, other] = [await make.project({ owner }), await make.project({ owner })];
  const cases: [Record<string, unknown>, string][] = [
    [{ name: '!' }, 'name'],
    [{ path: 'a/b' }, 'path'],
    [{ path: other.path.toUpperCase() }, 'path'],
    [{ name: other.path }, 'name'],
    [{ visibility_level: 11 }, 'visibility_level'],
    [{ description: 'x'.repeat(2001) }, 'description'],
  ];
  for (const [change, name] of cases) {
    const answer = await update(project.id, owner, { wiki_enabled: false, ...change });
    t.is(answer.status, 400, JSON.stringify(change));
    t.true(
      Array.isArray((answer.body.message as Record<string, unknown>)[name]),
      JSON.stringify(answer.body),
    );
  }
  const after = await update(project.id, owner, {});
  t.like(after.body, { wiki_enabled: true, path: project.path, name: project.path });
});

test('visibility is bound by the group', async (t) => {
  const { make } = holder.app;
  const owner = await make.user();
  const group = await make.group({ visibility: 'internal' });
  await make.groupMember(group, owner, 'owner');
  const project = await make.project({ namespaceId: group });
  const answer = await update(project.id, owner, { visibility_level: 20 });
  t.is(answer.status, 400);
  t.deepEqual(answer.body.message, { visibility_level: ['public is not allowed in a internal group.'] });
});

test.serial('visibility is bound by what the administrator restricts, where it changes', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const inner = await make.project({ owner: project.owner });
  await rows(`update settings set restricted_visibility_levels = '{10,20}'`);
  t.teardown(() => rows(`update settings set restricted_visibility_levels = '{}'`).then(() => {}));
  const refused = await update(inner.id, project.owner, { visibility_level: 10 });
  t.deepEqual(refused.body.message, {
    visibility_level: ['internal has been restricted by your GitLab administrator'],
  });
  t.is((await update(project.id, project.owner, { visibility_level: 20, description: 'kept' })).status, 200);
  t.is((await update(inner.id, null, { visibility_level: 10 })).status, 200);
});

async function addBranches(id: number, ...branches: string[]): Promise<string> {
  const dir = repositoryDir(holder.app.services.repositoriesDir, id);
  const tree = await git(dir, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  const sha = await git(dir, 'commit-tree', '-m', 'Start', tree);
  for (const branch of branches) await git(dir, 'update-ref', `refs/heads/${branch}`, sha);
  return dir;
}

test('the default branch moves HEAD of the repository; it must be a branch', async (t) => {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  const dir = await addBranches(project.id, 'master', 'feature/x');
  const head = async () => (await readFile(join(dir, 'HEAD'), 'utf8')).trim();
  const answer = await update(project.id, project.owner, { default_branch: 'feature/x' });
  t.is(answer.body.default_branch, 'feature/x');
  t.is(await head(), 'ref: refs/heads/feature/x');
  for (const branch of ['absent', '../../x', 'a\nb', 'refs/heads/master', '-x', 'master^{commit}']) {
    const refused = await update(project.id, project.owner, { default_branch: branch });
    t.is(refused.status, 400, branch);
    t.deepEqual(refused.body.message, { default_branch: ['is not a branch of the repository'] });
  }
  const mixed = await update(project.id, project.owner, { default_branch: 'master', path: 'a/b' });
  t.is(mixed.status, 400);
  t.is(await head(), 'ref: refs/heads/feature/x');
  t.is((await update(project.id, project.owner, {})).body.default_branch, 'feature/x');
});

test('an empty repository keeps having no default branch', async (t) => {
  const project = await holder.app.make.project();
  const answer = await update(project.id, project.owner, { default_branch: 'master' });
  t.is(answer.status, 200);
  t.is(answer.body.default_branch, null);
});

test('builds that are switched off are claimed by nobody until they are on again', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project();
  const runners = [
    await make.runner({ tags: ['off'] }),
    await make.runner({ tags: ['off'], projects: [project] }),
  ];
  const claim = async (token: string | undefined) =>
    (await call<{ id: number }>('POST', '/ci/api/v1/builds/register', { json: { token } })).status;
  for (const runner of runners) {
    const build = await make.build(project, { job: { tags: ['off'] } });
    t.is((await update(project.id, project.owner, { builds_enabled: false })).status, 200);
    t.is(await claim(runner.token), 404);
    const get = await call('GET', `/api/v3/projects/${project.id}/builds/${build.id}`, {
      as: project.owner.token,
    });
    t.is(get.status, 403, 'nor shown');
    t.is((await update(project.id, project.owner, { builds_enabled: true })).status, 200);
    t.is(await claim(runner.token), 201);
  }
});

test('shared runners that are switched off leave the builds to the own ones', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project();
  const [shared, own] = [
    await make.runner({ tags: ['own'] }),
    await make.runner({ tags: ['own'], projects: [project] }),
  ];
  await make.build(project, { job: { tags: ['own'] } });
  await update(project.id, project.owner, { shared_runners_enabled: false });
  const claim = (token: string) => call('POST', '/ci/api/v1/builds/register', { json: { token } });
  t.is((await claim(shared.token)).status, 404);
  t.is((await claim(own.token)).status, 201);
});

test('features that are switched off are so for everyone', async (t) => {
  const { make, call } = holder.app;
  const project = await make.project({ columns: { builds_enabled: false } });
  for (const as of [project.owner.token, rootToken]) {
    t.is((await call('GET', `/api/v3/projects/${project.id}/builds`, { as })).status, 403);
  }
});
