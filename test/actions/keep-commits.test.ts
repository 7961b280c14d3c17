import test from 'ava';
import { recordPush } from '../../server/actions/record-push.ts';
import { pushIdentity, settlePush } from '../../server/actions/settle-push.ts';
import { updateRef } from '../../server/git/refs.ts';
import { git } from '../git/real-git.ts';
import { tryGit } from '../support/git.ts';
import { PlayedRunner } from '../support/played-runner.ts';
import { ciFile, withPushes } from '../support/pushes.ts';

const { holder, trees, empty, filled, pipelines, builds } = withPushes();

const master = 'refs/heads/master';
const files = { '.gitlab-ci.yml': ciFile };

/** Ids that are kept for their own sake. */
async function kept(dir: string): Promise<string[]> {
  const text = await git(dir, 'for-each-ref', '--format=%(refname:lstrip=2)', 'refs/keep-around');
  return text.split('\n').filter((line) => line !== '');
}

/** Removes all that nothing leads to, at once. */
async function clean(dir: string): Promise<void> {
  await git(dir, 'reflog', 'expire', '--expire=now', '--all');
  await git(dir, 'gc', '--quiet', '--prune=now');
}

async function isThere(dir: string, sha: string): Promise<boolean> {
  return (await tryGit(dir, ['cat-file', '-e', sha])).code === 0;
}

/** Lets its branches be forced. */
async function unprotect(project: { id: number }): Promise<void> {
  await holder.app.rows('delete from protected_branches where project_id = $1', [project.id]);
}

test('commits that a branch leads to are kept by nothing else', async (t) => {
  const { tree, url, dir } = await filled();
  await tree.commit({ a: '1' });
  await tree.git('push', '--quiet', url, 'master');
  for (let index = 0; index < 40; index += 1) await tree.commit({});
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(await kept(dir), []);
});

test('a build of a commit that was forced away can be repeated after a cleaning, and the commit fetched', async (t) => {
  const { app } = holder;
  const { project, tree, url, dir, sha } = await filled();
  await unprotect(project);
  await tree.commit({ a: '1' });
  const tip = await tree.head();
  await tree.git('push', '--quiet', url, 'master');
  await tree.git('reset', '--quiet', '--hard', sha);
  await tree.git('commit', '--quiet', '--amend', '--message', 'Another');
  await tree.git('push', '--quiet', '--force', url, 'master');
  t.deepEqual(await kept(dir), [tip], 'the newest one keeps all before it');
  await clean(dir);
  await app.rows('delete from pending_builds where project_id = $1', [project.id]);
  const as = project.owner.token;
  const [first] = await app.rows<{ id: number }>(
    'select min(id)::int as id from builds where project_id = $1',
    [project.id],
  );
  const path = `/api/v3/projects/${project.id}/builds/${first?.id}`;
  await app.rows(`update builds set status = 'failed', finished_at = now() where project_id = $1`, [
    project.id,
  ]);
  t.is((await app.call('POST', `${path}/retry`, { as })).status, 201);
  const runner = new PlayedRunner(app, await app.make.runner({ projects: [project] }));
  t.is((await runner.mustClaim()).sha, sha);
  const other = await trees.fresh();
  await other.git('fetch', '--quiet', url, sha);
  t.is(await other.git('rev-parse', 'FETCH_HEAD'), sha);
});

test('what no build names goes', async (t) => {
  const { project, tree, url, dir } = await empty();
  const first = await tree.commit({ a: '1' });
  await tree.git('push', '--quiet', url, 'master');
  await unprotect(project);
  await tree.git('commit', '--quiet', '--amend', '--message', 'Another');
  await tree.git('push', '--quiet', '--force', url, 'master');
  t.deepEqual(await kept(dir), []);
  await clean(dir);
  t.false(await isThere(dir, first));
  t.deepEqual(await pipelines(project), []);
});

test('a branch that is removed leaves the commits of its builds, unless another one has them', async (t) => {
  const { tree, url, dir } = await filled();
  await tree.git('checkout', '--quiet', '-b', 'side');
  const built = await tree.commit({ b: '1' });
  await tree.git('push', '--quiet', url, 'side', 'side:merged');
  const tip = await tree.commit({ b: '2' }, '[ci skip] for once');
  await tree.git('push', '--quiet', url, 'side');
  await tree.git('push', '--quiet', url, ':merged');
  t.deepEqual(await kept(dir), []);
  await tree.git('push', '--quiet', url, ':side');
  t.deepEqual(await kept(dir), [tip]);
  await clean(dir);
  t.true(await isThere(dir, built));
});

test('tags too, annotated or not, and many at once', async (t) => {
  const { tree, url, dir } = await filled();
  const names = Array.from({ length: 12 }, (_, index) => `v${index}`);
  for (const name of names) await tree.git('tag', '--annotate', '--message', name, name);
  await tree.git('checkout', '--quiet', '--detach');
  const far = await tree.commit({ far: '1' });
  await tree.git('tag', '--annotate', '--message', 'Far', 'far');
  await tree.git('tag', 'plain', await tree.commit({ far: '2' }));
  const object = await tree.git('rev-parse', 'far');
  await tree.git('push', '--quiet', url, 'far');
  await tree.git('push', '--quiet', url, 'plain', ...names);
  const plain = await tree.head();
  await tree.git('push', '--quiet', url, ':plain');
  t.deepEqual(await kept(dir), [plain]);
  await git(dir, 'update-ref', '-d', `refs/keep-around/${plain}`);
  await tree.git('push', '--quiet', url, ':far', ...names.map((name) => `:${name}`));
  t.deepEqual(await kept(dir), [object]);
  await clean(dir);
  t.true(await isThere(dir, far));
});

test('a pipeline that is made once its branch has gone on elsewhere keeps its commit', async (t) => {
  const { work } = holder.app;
  const { project, tree, url, dir, sha } = await filled();
  const forced = await tree.commit(files, 'First');
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/objects');
  await git(dir, 'update-ref', '-d', 'refs/heads/objects');
  const move = async (oldSha: string, newSha: string) => {
    const changes = [{ ref: master, oldSha, newSha }];
    const pushId = await recordPush(work, { projectId: project.id, userId: project.owner.id, changes });
    await updateRef({ dir, ref: master, newSha, expectedOld: oldSha, identity: pushIdentity(pushId) });
    return pushId;
  };
  const there = await move(sha, forced);
  const back = await move(forced, sha);
  await holder.app.rows('delete from pipelines where project_id = $1 and sha = $2', [project.id, forced]);
  await settlePush(work, back, { isOver: true });
  t.deepEqual(await kept(dir), []);
  await settlePush(work, there, { isOver: true });
  t.deepEqual(await kept(dir), [forced]);
  t.is((await pipelines(project)).filter((pipeline) => pipeline.sha === forced).length, 1);
  t.true((await builds(project)).length > 1);
});
