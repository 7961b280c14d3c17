import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { removeProjects } from '../../server/actions/remove-projects.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { inTransaction } from '../../server/sql.ts';
import { git } from '../git/real-git.ts';
import { rootToken, withApp } from '../support/app.ts';
import { cloneUrl, tryGit } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';
import { callsOf } from '../support/running-build.ts';

const holder = withApp({ poolSize: 2 });

function remove(project: { id: number }, as: string) {
  return holder.app.call('DELETE', `/api/v3/projects/${project.id}`, { as });
}

async function isThere(project: { id: number }): Promise<boolean> {
  const rows = await holder.app.rows('select 1 from projects where id = $1', [project.id]);
  return rows.length > 0;
}

async function storeBlob(key: string): Promise<string> {
  await holder.app.services.storage.put(key, Readable.from(['bytes']));
  return key;
}

function dirOf(project: { id: number }): string {
  return repositoryDir(holder.app.services.repositoriesDir, project.id);
}

/** A commit on master. */
async function fill(project: MadeProject): Promise<void> {
  const dir = dirOf(project);
  const tree = await git(dir, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  await git(dir, 'update-ref', 'refs/heads/master', await git(dir, 'commit-tree', '-m', 'First', tree));
}

test('only owners and administrators may', async (t) => {
  const { make } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  t.is((await remove(project, (await make.member(project, 'master')).token)).status, 403);
  t.is((await remove(project, (await make.user()).token)).status, 404);
  const answer = await remove(project, project.owner.token);
  t.deepEqual([answer.status, answer.body], [200, true as never]);
  t.is((await remove(project, project.owner.token)).status, 404, 'the second time');
  t.is((await remove(other, rootToken)).status, 200);
});

test('a removed project is hidden at once, everywhere, and its name is free', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ visibility: 'public' });
  await fill(project);
  const { owner } = project;
  const member = await app.make.member(project, 'master');
  await app.call('POST', `/api/v3/projects/${project.id}/star`, { as: member.token });
  const runner = await app.make.runner({ projects: [project] });
  const url = cloneUrl(app, project, { password: owner.token });
  t.is((await tryGit('/', ['ls-remote', url])).code, 0);
  t.is((await remove(project, owner.token)).status, 200);
  for (const as of [owner.token, member.token, rootToken]) {
    const one = `/api/v3/projects/${project.id}`;
    const paths = ['', '/events', '/users', '/builds', '/variables', '/pipelines'].map((path) => one + path);
    for (const path of [...paths, `/api/v3/projects/${encodeURIComponent(project.fullPath)}`]) {
      t.is((await app.call('GET', path, { as })).status, 404, path);
    }
    for (const path of ['', '/owned', '/starred', '/search/project']) {
      const { body } = await app.call<{ id: number }[]>('GET', `/api/v3/projects${path}`, { as });
      t.false(
        body.some(({ id }) => id === project.id),
        path,
      );
    }
  }
  const runners = await app.call('GET', '/api/v3/runners', { as: member.token });
  t.deepEqual(runners.body, []);
  const shown = await app.call<{ projects: unknown[] }>('GET', `/api/v3/runners/${runner.id}`, {
    as: rootToken,
  });
  t.deepEqual(shown.body.projects, []);
  t.not((await tryGit('/', ['ls-remote', url])).code, 0);
  const register = await app.call('POST', '/ci/api/v1/runners/register', {
    json: { token: project.runnersToken },
  });
  t.is(register.status, 403);
  const again = await app.call<{ id: number }>('POST', '/api/v3/projects', {
    as: owner.token,
    json: { name: project.path, path: project.path },
  });
  t.is(again.status, 201);
  await app.runAllTasks();
  t.false(await isThere(project));
  t.true(await isThere(again.body));
  t.true(existsSync(dirOf(again.body)));
});

test.serial('running builds are canceled and their runners told; waiting ones leave the queue', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const runner = await app.make.runner({ projects: [project], tags: ['gone'] });
  const shared = await app.make.runner({ tags: ['gone'] });
  const build = await app.make.build(project, { status: 'running', runner });
  const waiting = await app.make.build(project, { job: { tags: ['gone'] } });
  const calls = callsOf(app, { project, runner, build });
  t.is((await calls.patch(0, 'begun\n')).status, 202);
  await remove(project, project.owner.token);
  t.is((await calls.patch(6, 'more\n')).status, 404);
  t.is((await calls.put({ state: 'success' })).status, 404);
  t.is((await calls.upload('zip')).status, 404);
  const [row] = await app.rows(
    'select status, finished_at is not null as is_over from builds where id = $1',
    [build.id],
  );
  t.deepEqual(row, { status: 'canceled', is_over: true });
  t.deepEqual(await app.rows('select 1 from pending_builds where build_id = $1', [waiting.id]), []);
  for (const { token } of [runner, shared]) {
    const claim = await app.call('POST', '/ci/api/v1/builds/register', { json: { token } });
    t.is(claim.status, 404);
  }
});

test('all that is its own goes in the background, and nothing of others', async (t) => {
  const { app } = holder;
  const [project, other] = [await app.make.project(), await app.make.project({ visibility: 'public' })];
  const keys: string[] = [];
  for (const [index, of] of [project, project, other].entries()) {
    const artifacts = await storeBlob(`artifacts/removal-${index}.zip`);
    const trace = await storeBlob(`traces/removal-${index}.txt`);
    const upload = await storeBlob(`uploads/removal-${index}`);
    keys.push(artifacts, trace, upload);
    const build = await app.make.build(of, { status: 'success', columns: { artifacts_key: artifacts } });
    await app.rows('update traces set blob_key = $2 where build_id = $1', [build.id, trace]);
    await app.rows(
      `insert into uploads (project_id, uploader_id, secret, filename, size, blob_key)
       values ($1, $2, $3, 'a.txt', 5, $4)`,
      [of.id, of.owner.id, `${index}`.repeat(32), upload],
    );
    await app.rows(`insert into events (project_id, author_id, action) values ($1, $2, 'created')`, [
      of.id,
      of.owner.id,
    ]);
  }
  await app.rows('insert into stars (project_id, user_id) values ($1, 1), ($2, 1)', [project.id, other.id]);
  await app.make.member(project, 'developer');
  const group = await app.make.group();
  await app.make.share(project, group, 'guest');
  await app.call('POST', `/api/v3/projects/${project.id}/variables`, {
    as: rootToken,
    form: { key: 'A', value: 'b' },
  });
  await app.call('POST', `/api/v3/projects/${project.id}/triggers`, { as: rootToken });
  await remove(project, rootToken);
  await app.runAllTasks();
  const tables = await app.rows<{ table: string }>(
    `select distinct conrelid::regclass::text as table from pg_constraint
     where contype = 'f' and confrelid = 'projects'::regclass`,
  );
  t.true(tables.length > 12);
  for (const { table } of tables) {
    t.deepEqual(await app.rows(`select 1 from ${table} where project_id = $1`, [project.id]), [], table);
  }
  t.false(await isThere(project));
  t.false(existsSync(dirOf(project)));
  const left: string[] = [];
  for (const key of keys) {
    const blob = await app.services.storage.get(key);
    blob?.stream.destroy();
    if (blob) left.push(key);
  }
  t.deepEqual(left, keys.slice(6));
  t.true(existsSync(dirOf(other)));
  t.is((await app.rows('select 1 from builds where project_id = $1', [other.id])).length, 1);
});

test('forks stay, without a source; the source of a removed fork has one fork less', async (t) => {
  const { app } = holder;
  const source = await app.make.project({ columns: { forks_count: 2 } });
  const middle = await app.make.project({ columns: { forked_from_id: source.id, forks_count: 1 } });
  const leaf = await app.make.project({ columns: { forked_from_id: middle.id } });
  const show = async ({ id }: { id: number }) =>
    (
      await app.call<{ forks_count: number; forked_from_project?: unknown }>(
        'GET',
        `/api/v3/projects/${id}`,
        {
          as: rootToken,
        },
      )
    ).body;
  t.truthy((await show(leaf)).forked_from_project);
  await remove(middle, rootToken);
  t.is((await show(source)).forks_count, 1);
  t.is((await show(leaf)).forked_from_project, undefined, 'hidden at once');
  await app.runAllTasks();
  t.is((await show(leaf)).forked_from_project, undefined);
  t.deepEqual(await app.rows('select forked_from_id from projects where id = $1', [leaf.id]), [
    { forked_from_id: null },
  ]);
  const raised = await app.call('PUT', `/api/v3/projects/${leaf.id}`, {
    as: rootToken,
    form: { visibility_level: '20' },
  });
  t.is(raised.status, 200, 'nothing bounds it any more');
});

test('several at once, and what is hidden already, are one task each', async (t) => {
  const { app } = holder;
  const made = [await app.make.project(), await app.make.project()];
  const ids = made.map(({ id }) => id);
  await inTransaction(app.work, (work) => removeProjects(work, ids));
  await inTransaction(app.work, (work) => removeProjects(work, [...ids, 999_999]));
  await inTransaction(app.work, (work) => removeProjects(work, []));
  const tasks = await app.rows(
    `select 1 from graphile_worker.jobs where task_identifier = 'purge_project' and key = any($1)`,
    [ids.map((id) => `purge_project:${id}`)],
  );
  t.is(tasks.length, 2);
  await app.runAllTasks();
  for (const project of made) t.false(await isThere(project));
});

test('a project that is not removed is never purged', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await app.make.build(project, { status: 'success' });
  await app.services.queue.add(app.work.em, 'purge_project', { projectId: project.id });
  await app.runAllTasks();
  t.is((await app.rows('select 1 from builds where project_id = $1', [project.id])).length, 1);
  t.true(existsSync(dirOf(project)));
});

test('everything that points at projects, users and namespaces is found by an index', async (t) => {
  const missing = await holder.app.rows<{ reference: string }>(
    `select c.conrelid::regclass || '.' || a.attname as reference from pg_constraint c
       join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.confrelid = any('{projects,users,namespaces,builds,pipelines}'::regclass[])
       and c.connamespace = 'public'::regnamespace
       and not exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1]
         and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = '(' || a.attname || ' IS NOT NULL)'))`,
  );
  t.deepEqual(missing, []);
});
