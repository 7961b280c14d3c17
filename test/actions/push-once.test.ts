import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { recordPush } from '../../server/actions/record-push.ts';
import { resumePushes } from '../../server/actions/resume-pushes.ts';
import { pushIdentity, settlePush } from '../../server/actions/settle-push.ts';
import type { RefChange } from '../../server/entities/push.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { updateRef } from '../../server/git/refs.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from '../support/app.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';

// Many connections, so that what is called at once runs at once.
const holder = withApp({ poolSize: 10 });
const trees = withWorkTrees();

interface Prepared {
  project: MadeProject;
  dir: string;
  /** A commit with a CI file that the repository has, and a later one. */
  shas: [string, string];
}

/** A project whose repository has two commits that no branch shows; its `master` is another one, without CI. */
async function prepared(): Promise<Prepared> {
  const project = await holder.app.make.project();
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const tree = await trees.fresh();
  await tree.commit();
  await tree.git(
    'push',
    '--quiet',
    cloneUrl(holder.app, project, { password: project.owner.token }),
    'master',
  );
  const first = await tree.commit({ '.gitlab-ci.yml': 'compile: {script: make}' });
  const second = await tree.commit();
  await tree.git('push', '--quiet', dir, `${second}:refs/aside/x`);
  return { project, dir, shas: [first, second] };
}

function record({ project }: Prepared, ...changes: RefChange[]): Promise<number> {
  return recordPush(holder.app.work, { projectId: project.id, userId: project.owner.id, changes });
}

/** What git does of a push. */
async function move({ dir }: Prepared, pushId: number, { ref, oldSha, newSha }: RefChange): Promise<void> {
  await updateRef({ dir, ref, newSha, expectedOld: oldSha, identity: pushIdentity(pushId) });
}

interface Made {
  pipelines: { ref: string; sha: string }[];
  builds: number;
  events: { action: string; ref: string }[];
  pushes: number;
}

async function made({ project }: Prepared): Promise<Made> {
  const { rows } = holder.app;
  const [pipelines, builds, events, pushes] = await Promise.all([
    rows<Made['pipelines'][0]>('select ref, sha from pipelines where project_id = $1 order by id', [
      project.id,
    ]),
    rows('select 1 from builds where project_id = $1', [project.id]),
    rows<Made['events'][0]>(
      `select action, ref from events where project_id = $1 and ref <> 'refs/heads/master' order by id`,
      [project.id],
    ),
    rows('select 1 from pushes where project_id = $1', [project.id]),
  ]);
  return { pipelines, builds: builds.length, events, pushes: pushes.length };
}

const branch = (newSha: string, oldSha = zeroSha, name = 'side'): RefChange => ({
  ref: `refs/heads/${name}`,
  oldSha,
  newSha,
});

test.serial('settling a push again and again, and at once, makes its consequences once', async (t) => {
  const at = await prepared();
  const { shas } = at;
  const changes = [
    branch(shas[0]),
    branch(shas[1], zeroSha, 'other'),
    { ...branch(shas[1]), ref: 'refs/tags/v1' },
  ];
  const pushId = await record(at, ...changes);
  for (const change of changes) await move(at, pushId, change);
  const settled = await Promise.all(
    Array.from({ length: 8 }, () => settlePush(holder.app.work, pushId, { isOver: true })),
  );
  t.true(settled.every((isSettled) => isSettled));
  await settlePush(holder.app.work, pushId, { isOver: true });
  await settlePush(holder.app.work, pushId, { isOver: false });
  await holder.app.runAllTasks();
  const found = await made(at);
  t.deepEqual(
    found.pipelines.map(({ ref }) => ref),
    ['side', 'other', 'v1'],
  );
  t.is(found.builds, 3);
  t.is(found.events.length, 3);
  t.is(found.pushes, 0);
});

test.serial('a push is settled by its task when nobody else did', async (t) => {
  const at = await prepared();
  const change = branch(at.shas[0]);
  const pushId = await record(at, change);
  await move(at, pushId, change);
  await holder.app.runTasks();
  t.is((await made(at)).pipelines.length, 0, 'not at once: its request may be at it');
  await holder.app.runAllTasks();
  t.deepEqual(await made(at), {
    pipelines: [{ ref: 'side', sha: at.shas[0] }],
    builds: 1,
    events: [{ action: 'pushed new', ref: 'refs/heads/side' }],
    pushes: 0,
  });
});

test.serial('what has moved of an unfinished push counts at once, the rest when it moves', async (t) => {
  const at = await prepared();
  const [one, two] = [branch(at.shas[0]), branch(at.shas[0], zeroSha, 'late')];
  const pushId = await record(at, one, two);
  await move(at, pushId, one);
  t.false(await settlePush(holder.app.work, pushId, { isOver: false }));
  t.deepEqual(
    (await made(at)).pipelines.map(({ ref }) => ref),
    ['side'],
  );
  await holder.app.runAllTasks();
  t.is((await made(at)).pushes, 1);
  await move(at, pushId, two);
  await holder.app.runAllTasks();
  const found = await made(at);
  t.deepEqual(
    found.pipelines.map(({ ref }) => ref),
    ['side', 'late'],
  );
  t.deepEqual([found.events.length, found.builds, found.pushes], [2, 2, 0]);
});

test.serial('a push that never happened is forgotten after its time, and has no consequences', async (t) => {
  const at = await prepared();
  const pushId = await record(at, branch(at.shas[0]));
  await holder.app.runAllTasks();
  t.is((await made(at)).pushes, 1);
  await holder.app.rows(`update pushes set created_at = now() - interval '3 hours' where id = $1`, [pushId]);
  await holder.app.runAllTasks();
  t.deepEqual(await made(at), { pipelines: [], builds: 0, events: [], pushes: 0 });
});

test.serial('the same move made by another push is not this one', async (t) => {
  const at = await prepared();
  const change = branch(at.shas[0]);
  const [lost, won] = [await record(at, change), await record(at, change)];
  await move(at, won, change);
  await settlePush(holder.app.work, lost, { isOver: true });
  t.is((await made(at)).pipelines.length, 0);
  await settlePush(holder.app.work, won, { isOver: true });
  t.is((await made(at)).pipelines.length, 1);
});

test.serial('a deletion first settles the pushes before it', async (t) => {
  const at = await prepared();
  const change = branch(at.shas[0]);
  const creation = await record(at, change);
  await move(at, creation, change);
  const removal = branch(zeroSha, at.shas[0]);
  const deletion = await record(at, removal);
  t.is((await made(at)).pipelines.length, 1);
  await move(at, deletion, removal);
  await settlePush(holder.app.work, deletion, { isOver: true });
  await holder.app.runAllTasks();
  const found = await made(at);
  t.deepEqual(found.pipelines, [{ ref: 'side', sha: at.shas[0] }]);
  t.deepEqual(
    found.events.map(({ action }) => action),
    ['pushed new', 'deleted'],
  );
  t.is(found.pushes, 0);
});

test.serial('two first pushes at once agree about the default branch', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const project = await holder.app.make.project();
    const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
    const tree = await trees.fresh();
    const newSha = await tree.commit();
    await tree.git('push', '--quiet', dir, `HEAD:refs/aside/x`);
    const at = { project, dir, shas: [newSha, newSha] } as Prepared;
    const changes = ['one', 'two', 'three', 'four'].map((name) => branch(newSha, zeroSha, name));
    const ids: number[] = [];
    for (const change of changes) {
      const id = await record(at, change);
      await move(at, id, change);
      ids.push(id);
    }
    await Promise.all(ids.map((id) => settlePush(holder.app.work, id, { isOver: true })));
    const [row] = await holder.app.rows<{ default_branch: string }>(
      'select default_branch from projects where id = $1',
      [project.id],
    );
    t.is(await readFile(join(dir, 'HEAD'), 'utf8'), `ref: refs/heads/${row?.default_branch}\n`);
  }
});

test.serial('a start looks again at pushes whose task a dead worker holds', async (t) => {
  const at = await prepared();
  const change = branch(at.shas[0]);
  const pushId = await record(at, change);
  await move(at, pushId, change);
  await holder.app.rows(
    `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead', attempts = 1 where key = $1`,
    [`settle_push:${pushId}`],
  );
  await holder.app.runAllTasks();
  t.is((await made(at)).pushes, 1, 'the task is held');
  await resumePushes(holder.app.work);
  await resumePushes(holder.app.work);
  await holder.app.runAllTasks();
  const found = await made(at);
  t.deepEqual([found.pipelines.length, found.pushes], [1, 0]);
});

test.serial('what a killed git left in the way is cleared once it is old enough', async (t) => {
  const at = await prepared();
  const pushId = await record(at, branch(at.shas[0]));
  const lock = join(at.dir, 'refs/heads/side.lock');
  const fresh = join(at.dir, 'refs/heads/fresh.lock');
  for (const path of [lock, fresh]) await writeFile(path, '');
  const twentyMinutesAgo = Date.now() / 1000 - 1200;
  await utimes(lock, twentyMinutesAgo, twentyMinutesAgo);
  // It would be tidied by the same tasks otherwise, which clears away old locks as well.
  await holder.app.rows('update projects set tidied_at = now() where id = $1', [at.project.id]);
  await holder.app.runAllTasks();
  await t.notThrowsAsync(stat(lock), 'the push is young');
  await holder.app.rows(`update pushes set created_at = now() - interval '20 minutes' where id = $1`, [
    pushId,
  ]);
  await holder.app.runAllTasks();
  await t.throwsAsync(stat(lock), { code: 'ENOENT' });
  await t.notThrowsAsync(stat(fresh));
  t.true(holder.app.logLines.some((line) => line.includes('removed what a dead git left')));
});

test.serial('pushes at once, to one branch and to many, all have their pipelines', async (t) => {
  const { project } = await prepared();
  const url = cloneUrl(holder.app, project, { password: project.owner.token });
  const clients = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const tree = await trees.fresh();
      await tree.commit({ '.gitlab-ci.yml': 'compile: {script: make}', own: `${index}` });
      return tree;
    }),
  );
  const own = clients.map((tree, index) => tree.git('push', '--quiet', url, `HEAD:refs/heads/own${index}`));
  const shared = clients.map((tree) => tree.try('push', '--quiet', url, 'HEAD:refs/heads/shared'));
  await Promise.all(own);
  const won = (await Promise.all(shared)).filter(({ code }) => code === 0);
  t.true(won.length >= 1);
  const refs = await holder.app.rows<{ ref: string; count: number }>(
    'select ref, count(*)::int from pipelines where project_id = $1 group by ref order by ref',
    [project.id],
  );
  t.deepEqual(refs, [
    ...clients.map((_, index) => ({ ref: `own${index}`, count: 1 })),
    { ref: 'shared', count: won.length },
  ]);
  t.deepEqual(await holder.app.rows('select id from pushes where project_id = $1', [project.id]), []);
});

test.serial(
  'a list of commits that was made early stands in the event, if it is of the same move',
  async (t) => {
    const at = await prepared();
    const { shas } = at;
    const settled = async (change: RefChange, early: Pick<RefChange, 'oldSha' | 'newSha'>) => {
      const pushId = await record(at, change);
      await move(at, pushId, change);
      const list = Promise.resolve({ ...early, total: 77, newest: [shas[0]] });
      await settlePush(holder.app.work, pushId, { isOver: true, early: list });
      const [event] = await holder.app.rows<{
        data: { total_commits_count: number; commits: { id: string }[] };
      }>('select data from events where project_id = $1 order by id desc limit 1', [at.project.id]);
      return { total: event?.data.total_commits_count, ids: event?.data.commits.map(({ id }) => id) };
    };
    await settled(branch(shas[0]), { oldSha: zeroSha, newSha: shas[0] });
    const next = branch(shas[1], shas[0]);
    t.deepEqual(await settled(next, { oldSha: zeroSha, newSha: shas[1] }), { total: 1, ids: [shas[1]] });
    const back = branch(shas[0], shas[1]);
    t.deepEqual(await settled(back, { oldSha: shas[1], newSha: shas[0] }), { total: 77, ids: [shas[0]] });
  },
);
