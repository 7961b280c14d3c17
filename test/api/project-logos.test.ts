import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { moveRef } from '../../server/actions/move-ref.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { serveGit } from '../git/http-server.ts';
import { git } from '../git/real-git.ts';
import { rootToken } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import type { MadeProject } from '../support/make.ts';
import { type Pushed, withPushes } from '../support/pushes.ts';
import { emptyBlob, submodule, writeTree } from '../support/trees.ts';

const { holder, empty, outstanding } = withPushes();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

interface Shown {
  id: number;
  avatar_url: string | null;
  web_url: string;
}

/** What a project is shown with: `own` for the picture among its files, at its own address. */
async function shown({ id }: { id: number }): Promise<string | null> {
  const { body } = await holder.app.call<Shown>('GET', `/api/v3/projects/${id}`, { as: rootToken });
  return body.avatar_url === `${body.web_url}/avatar` ? 'own' : body.avatar_url;
}

async function logo({ id }: { id: number }): Promise<string | null | undefined> {
  const rows = await holder.app.rows<{ logo: string | null }>('select logo from projects where id = $1', [
    id,
  ]);
  return rows[0]?.logo;
}

async function is(t: ExecutionContext, project: { id: number }, name: string | null): Promise<void> {
  t.is(await logo(project), name);
  t.is(await shown(project), name && 'own');
}

async function push({ tree, url }: Pushed, files: Record<string, string>, branch = 'master'): Promise<void> {
  await tree.commit(files);
  await tree.git('push', '--quiet', url, `HEAD:refs/heads/${branch}`);
}

/** A project whose master has this file. */
async function withFile(name: string): Promise<Pushed> {
  const at = await empty();
  await push(at, { [name]: 'picture' });
  return at;
}

function choose(project: MadeProject, branch: string) {
  const form = { default_branch: branch };
  return holder.app.call('PUT', `/api/v3/projects/${project.id}`, { as: project.owner.token, form });
}

test.serial('a logo counts from the push that brings it to the one that takes it away', async (t) => {
  const at = await empty();
  await is(t, at.project, null);
  await push(at, { README: 'x' });
  await is(t, at.project, null);
  await push(at, { 'logo.gif': 'gif' });
  await is(t, at.project, 'logo.gif');
  await push(at, { 'logo.jpg': 'jpg' });
  await is(t, at.project, 'logo.jpg');
  await push(at, { 'logo.png': 'png' });
  await is(t, at.project, 'logo.png');
  await at.tree.git('rm', '-q', 'logo.gif', 'logo.jpg');
  await at.tree.git('mv', 'logo.png', 'logo.gif');
  await push(at, {});
  await is(t, at.project, 'logo.gif');
  await at.tree.git('rm', '-q', 'logo.gif');
  await push(at, {});
  await is(t, at.project, null);
});

test.serial('lists show it too, and a picture that was uploaded goes before it', async (t) => {
  const { project } = await withFile('logo.png');
  const list = async () => {
    const { body } = await holder.app.call<Shown[]>('GET', '/api/v3/projects', { as: project.owner.token });
    return body.map(({ avatar_url }) => avatar_url);
  };
  t.deepEqual(await list(), [`${holder.app.url}/${project.fullPath}/avatar`]);
  await holder.app.rows('update projects set avatar = $2 where id = $1', [project.id, 'http://a.example/b']);
  t.deepEqual(await list(), ['http://a.example/b']);
  t.is(await shown(project), 'http://a.example/b');
});

test.serial('links, folders, submodules and other names are no logo; a program is one', async (t) => {
  const at = await empty();
  await writeFile(join(at.tree.dir, 'real.png'), 'picture');
  await symlink('real.png', join(at.tree.dir, 'logo.png'));
  await push(at, { 'LOGO.PNG': 'x', 'logo.svg': 'x', 'logo.jpeg': 'x', 'images/logo.png': 'x' });
  await is(t, at.project, null);
  await push(at, { 'logo.jpg/logo.jpg': 'x' });
  await is(t, at.project, null);
  await at.tree.git('update-index', '--add', '--cacheinfo', `160000,${submodule},logo.gif`);
  await at.tree.git('commit', '--quiet', '--message', 'A submodule');
  await at.tree.git('push', '--quiet', at.url, 'master');
  await is(t, at.project, null);
  await at.tree.git('update-index', '--force-remove', 'logo.gif');
  await writeFile(join(at.tree.dir, 'logo.gif'), 'picture');
  await at.tree.git('add', 'logo.gif');
  await at.tree.git('update-index', '--chmod=+x', 'logo.gif');
  await at.tree.git('commit', '--quiet', '--message', 'A program');
  await at.tree.git('push', '--quiet', at.url, 'master');
  await is(t, at.project, 'logo.gif');
});

test.serial('a push that leaves the default branch alone does not look', async (t) => {
  const at = await withFile('README');
  await holder.app.rows(`update projects set logo = 'as it was' where id = $1`, [at.project.id]);
  await push(at, { 'logo.png': 'picture' }, 'side');
  await at.tree.git('push', '--quiet', at.url, 'HEAD:refs/tags/v1');
  t.is(await logo(at.project), 'as it was');
  await at.tree.git('push', '--quiet', at.url, 'HEAD:refs/heads/master');
  t.is(await logo(at.project), 'logo.png');
});

test.serial('of several first branches it is that of the one that is chosen', async (t) => {
  const at = await empty();
  await at.tree.commit({ README: 'x' });
  await at.tree.git('branch', 'another');
  await at.tree.commit({ 'logo.png': 'picture' });
  await at.tree.git('push', '--quiet', at.url, 'another', 'master');
  await is(t, at.project, 'logo.png');
});

test.serial('another default branch brings its own', async (t) => {
  const at = await withFile('logo.png');
  await at.tree.git('mv', 'logo.png', 'logo.gif');
  await push(at, {}, 'moving');
  await at.tree.git('rm', '-q', 'logo.gif');
  await push(at, { README: 'x' }, 'plain');
  for (const [branch, name] of Object.entries({ moving: 'logo.gif', plain: null, master: 'logo.png' })) {
    t.is((await choose(at.project, branch)).status, 200);
    await is(t, at.project, name);
  }
  t.is((await choose(at.project, 'no-such')).status, 400);
  await is(t, at.project, 'logo.png');
});

test.serial('a branch that is chosen while a push to it is settled has that push seen', async (t) => {
  const at = await withFile('README');
  const other = new pg.Client({ connectionString: holder.app.databaseUrl });
  await other.connect();
  t.teardown(() => other.end());
  await other.query('begin');
  await other.query(`update projects set default_branch = 'side' where id = $1`, [at.project.id]);
  const pushing = push(at, { 'logo.png': 'picture' }, 'side');
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await eventually(async () => (await holder.app.rows(waiting)).length > 0);
  await other.query('commit');
  await pushing;
  await is(t, at.project, 'logo.png');
});

test.serial('an edit of files brings it and takes it away', async (t) => {
  const { project } = await withFile('README');
  const edit = (method: string, more: Record<string, string>) =>
    holder.app.call(method, `/api/v3/projects/${project.id}/repository/files`, {
      as: project.owner.token,
      form: { file_path: 'logo.jpg', branch_name: 'master', commit_message: 'Edit', ...more },
    });
  t.is((await edit('POST', { content: 'cGljdHVyZQ==', encoding: 'base64' })).status, 201);
  await is(t, project, 'logo.jpg');
  t.is((await edit('DELETE', {})).status, 200);
  await is(t, project, null);
});

test.serial('a default branch that is gone has none', async (t) => {
  const { project, tree } = await withFile('logo.png');
  const move = { projectId: project.id, userId: project.owner.id, ref: 'refs/heads/master' };
  await moveRef(holder.app.work, { ...move, oldSha: await tree.head(), newSha: zeroSha });
  await is(t, project, null);
});

test.serial('a fork is shown with that of its source, and then with its own', async (t) => {
  const { project } = await withFile('logo.gif');
  await holder.app.rows('update projects set visibility_level = 20 where id = $1', [project.id]);
  const { token } = await holder.app.make.user();
  const fork = await holder.app.call<Shown>('POST', `/api/v3/projects/fork/${project.id}`, { as: token });
  t.is(fork.status, 201);
  t.is(fork.body.avatar_url, `${fork.body.web_url}/avatar`);
  await is(t, fork.body, 'logo.gif');
  const form = { file_path: 'logo.gif', branch_name: 'master', commit_message: 'Remove' };
  await holder.app.call('DELETE', `/api/v3/projects/${fork.body.id}/repository/files`, { as: token, form });
  await is(t, fork.body, null);
  await is(t, project, 'logo.gif');
});

test.serial('an import ends with it', async (t) => {
  const source = await withFile('logo.png');
  const plain = await withFile('README');
  for (const [at, name] of [
    [source, 'logo.png'],
    [plain, null],
  ] as const) {
    const server = await serveGit({ dir: at.dir });
    t.teardown(() => server.close());
    const json = { name: `Copy of ${at.project.path}`, import_url: server.url };
    const as = at.project.owner.token;
    const made = await holder.app.call<Shown>('POST', '/api/v3/projects', { as, json });
    await is(t, made.body, null);
    await holder.app.runTasks();
    const imported = await holder.app.rows('select import_status from projects where id = $1', [
      made.body.id,
    ]);
    t.deepEqual(imported, [{ import_status: 'finished' }]);
    await is(t, made.body, name);
  }
});

test.serial('the message of the push that brings it tells of it', async (t) => {
  const at = await withFile('README');
  const json = { url: receiver.url('/logo') };
  const path = `/api/v3/projects/${at.project.id}/hooks`;
  t.is((await holder.app.call('POST', path, { as: at.project.owner.token, json })).status, 201);
  await push(at, { README: 'y' });
  await holder.app.runTasks();
  await push(at, { 'logo.png': 'picture' });
  await holder.app.runTasks();
  t.deepEqual(
    receiver.at<{ project: Shown }>('/logo').map(({ body }) => body.project.avatar_url),
    [null, `${holder.app.url}/${at.project.fullPath}/avatar`],
  );
});

test.serial('files that cannot be read keep no push from being settled', async (t) => {
  const { app } = holder;
  const at = await empty({ builds_enabled: false });
  await push(at, { 'logo.png': 'picture' });
  const oldSha = await at.tree.head();
  const tree = await writeTree(at.dir, [`100644 blob ${emptyBlob}\tlogo.gif`]);
  const newSha = await git(at.dir, 'commit-tree', '-p', oldSha, '-m', 'Damaged', tree);
  await rm(join(at.dir, 'objects', tree.slice(0, 2), tree.slice(2)));
  await writeFile(join(at.dir, 'objects', tree.slice(0, 2), tree.slice(2)), 'garbage');
  const move = { projectId: at.project.id, userId: at.project.owner.id, ref: 'refs/heads/master' };
  await moveRef(app.work, { ...move, oldSha, newSha });
  t.is(await outstanding(at.project), 0);
  await is(t, at.project, null);
  t.true(app.logLines.some((line) => line.includes('the logo of a project was not found out')));
});
