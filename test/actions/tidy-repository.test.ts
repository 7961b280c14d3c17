import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { moveRef } from '../../server/actions/move-ref.ts';
import { tidyProject } from '../../server/actions/tidy-repository.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject } from '../support/make.ts';
import { agePacks } from '../support/many-packs.ts';

const holder = withApp();
const none = '0'.repeat(40);

const dirOf = ({ id }: MadeProject) => repositoryDir(holder.app.services.repositoriesDir, id);

/** Moves master so many times, as pushes do. */
async function move(project: MadeProject, times: number): Promise<void> {
  const { app } = holder;
  const master = { projectId: project.id, userId: project.owner.id, ref: 'refs/heads/master' };
  for (let count = 0; count < times; count += 1) {
    const oldSha = await git(dirOf(project), 'rev-parse', '--verify', 'master').catch(() => none);
    const newSha = await looseCommit(app, project, ...(oldSha === none ? [] : [oldSha]));
    await moveRef(app.work, { ...master, oldSha, newSha });
  }
}

/** Minutes until the repository is to be tidied, of each task that wants it. */
async function due({ id }: MadeProject): Promise<number[]> {
  const rows = await holder.app.rows<{ minutes: number }>(
    `select round(extract(epoch from run_at - now()) / 60)::int as minutes from graphile_worker._private_jobs
     where key = $1`,
    [`tidy_repository:${id}`],
  );
  return rows.map(({ minutes }) => minutes);
}

async function careOf({ id }: MadeProject) {
  const [row] = await holder.app.rows<{
    repository_size: string;
    pushes_since_tidy: number;
    tidied: boolean;
  }>(
    `select repository_size, pushes_since_tidy, tidied_at is not null as tidied from projects where id = $1`,
    [id],
  );
  return row;
}

/** As if the last time were more than an hour ago. */
async function anHourLater({ id }: MadeProject): Promise<void> {
  await holder.app.rows(`update projects set tidied_at = now() - interval '61 minutes' where id = $1`, [id]);
}

test.serial('a repository is tidied after ten pushes, at most once in an hour', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await move(project, 9);
  t.deepEqual(await due(project), [24 * 60], 'so few wait for a day');
  await move(project, 1);
  t.deepEqual(await due(project), [0]);
  await app.runTasks();
  const care = await careOf(project);
  t.is(care?.pushes_since_tidy, 0);
  t.true(Number(care?.repository_size) > 0);
  t.regex(await git(dirOf(project), 'count-objects'), /^0 objects/);
  t.is(await git(dirOf(project), 'rev-list', '--count', 'master'), '10');
  await move(project, 10);
  t.deepEqual(await due(project), [60]);
});

test.serial('asked for too early, it is put off', async (t) => {
  const project = await holder.app.make.project();
  await move(project, 2);
  await tidyProject(holder.app.work, project.id);
  await move(project, 1);
  await tidyProject(holder.app.work, project.id);
  t.deepEqual(await due(project), [60]);
  t.is((await careOf(project))?.pushes_since_tidy, 1);
  await anHourLater(project);
  await tidyProject(holder.app.work, project.id);
  t.is((await careOf(project))?.pushes_since_tidy, 0);
});

test.serial('what a killed git has left is cleared away', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const left = join(dirOf(project), 'objects', 'pack', 'tmp_pack_killed');
  await writeFile(left, 'half');
  await utimes(left, 1, 1);
  await tidyProject(app.work, project.id);
  await t.throwsAsync(stat(left), { code: 'ENOENT' });
});

test.serial('one that cannot be read is left alone, and is no trouble to others', async (t) => {
  const { app } = holder;
  const [broken, whole] = [await app.make.project(), await app.make.project()];
  await move(broken, 10);
  await move(whole, 10);
  await rm(join(dirOf(broken), 'HEAD'));
  await app.runTasks();
  t.is((await careOf(broken))?.repository_size, '0');
  t.true(Number((await careOf(whole))?.repository_size) > 0);
  t.deepEqual(await due(broken), []);
  t.true(
    app.logLines.some(
      (line) => line.includes('could not be tidied') && line.includes(`"project":${broken.id}`),
    ),
  );
});

test.serial('of a project that is gone nothing is tidied', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await app.rows('update projects set pending_delete = true where id = $1', [project.id]);
  await tidyProject(app.work, project.id);
  t.deepEqual(await due(project), []);
  t.false((await careOf(project))?.tidied);
});

test.serial('a fork is as large as its source until it is measured itself', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: { visibility_level: 20 } });
  await move(project, 1);
  await tidyProject(app.work, project.id);
  const user = await app.make.user();
  const fork = await app.call<{ id: number }>('POST', `/api/v3/projects/fork/${project.id}`, {
    as: user.token,
  });
  const [row] = await app.rows<{ repository_size: string }>(
    'select repository_size from projects where id = $1',
    [fork.body.id],
  );
  t.is(row?.repository_size, (await careOf(project))?.repository_size);
});

test.serial('the logs of refs are shortened, but not under a push that is still open', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await move(project, 2);
  const log = join(dirOf(project), 'logs/refs/heads/master');
  const [older = '', newer = ''] = (await readFile(log, 'utf8')).trimEnd().split('\n');
  await writeFile(log, `${older.replace(/> \d+ /, '> 1400000000 ')}\n${newer}\n`);
  const lines = async () => (await readFile(log, 'utf8')).trimEnd().split('\n').length;
  await app.rows(`insert into pushes (project_id, changes) values ($1, '[]')`, [project.id]);
  await tidyProject(app.work, project.id);
  t.is(await lines(), 2);
  await app.rows('delete from pushes where project_id = $1', [project.id]);
  await agePacks(dirOf(project), 8 * 86_400);
  await anHourLater(project);
  await tidyProject(app.work, project.id);
  t.is(await lines(), 1);
});
