import test from 'ava';
import { moveRef } from '../../server/actions/move-ref.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { serveGit } from '../git/http-server.ts';
import { makeBench } from '../git/real-git.ts';
import { rootToken } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, empty, filled } = withPushes();

const rules = {
  0: [],
  1: [{ name: 'trunk', developers_can_push: true, developers_can_merge: false }],
  2: [{ name: 'trunk', developers_can_push: false, developers_can_merge: false }],
};
const settings = [0, 1, 2] as const;

/** The tests of this file run one after another: the setting is one for all. */
async function choose(setting: number): Promise<void> {
  const json = { default_branch_protection: setting };
  await holder.app.call('PUT', '/api/v3/application/settings', { as: rootToken, json });
}

function rulesOf({ id }: { id: number }): Promise<unknown[]> {
  return holder.app.rows(
    'select name, developers_can_push, developers_can_merge from protected_branches where project_id = $1',
    [id],
  );
}

for (const setting of settings) {
  test.serial(`setting ${setting} protects the first branch that is pushed, and no later one`, async (t) => {
    await choose(setting);
    const { project, tree, url } = await empty();
    await tree.commit();
    await tree.git('push', '--quiet', url, 'HEAD:refs/tags/v1');
    t.deepEqual(await rulesOf(project), []);
    await tree.git('push', '--quiet', url, 'HEAD:refs/heads/trunk');
    await tree.git('push', '--quiet', url, 'HEAD:refs/heads/master');
    t.deepEqual(await rulesOf(project), rules[setting]);
  });

  test.serial(`setting ${setting} protects the first branch that the server makes`, async (t) => {
    await choose(setting);
    const { project } = await empty();
    const newSha = await looseCommit(holder.app, project);
    const move = { projectId: project.id, userId: project.owner.id, ref: 'refs/heads/trunk', newSha };
    await moveRef(holder.app.work, { ...move, oldSha: zeroSha });
    t.deepEqual(await rulesOf(project), rules[setting]);
  });

  test.serial(`setting ${setting} protects the default branch of an import and of a fork`, async (t) => {
    await choose(setting);
    await holder.app.rows('update settings set local_requests_allowed = true');
    const bench = await makeBench();
    const { dir } = await bench.filled();
    const server = await serveGit({ dir });
    t.teardown(async () => {
      await server.close();
      await bench.clean();
    });
    const ada = await holder.app.make.user();
    const json = { name: 'imported', import_url: server.url };
    const made = await holder.app.call<{ id: number }>('POST', '/api/v3/projects', { as: ada.token, json });
    await holder.app.runTasks();
    const expected = rules[setting].map((rule) => ({ ...rule, name: 'master' }));
    t.deepEqual(await rulesOf(made.body), expected);
    const by = await holder.app.make.user();
    await holder.app.rows('update projects set visibility_level = 20 where id = $1', [made.body.id]);
    const fork = await holder.app.call<{ id: number }>('POST', `/api/v3/projects/fork/${made.body.id}`, {
      as: by.token,
    });
    t.is(fork.status, 201);
    t.deepEqual(await rulesOf(fork.body), expected);
  });
}

test.serial('a rule that is there before the first branch stays as it is', async (t) => {
  await choose(2);
  const { project, tree, url } = await empty();
  await tree.commit();
  await holder.app.rows(
    "insert into protected_branches (project_id, name, developers_can_push) values ($1, 'master', true)",
    [project.id],
  );
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(await rulesOf(project), [
    { name: 'master', developers_can_push: true, developers_can_merge: false },
  ]);
});

test.serial('another default branch changes no rule, and has to be there', async (t) => {
  await choose(1);
  const { project, tree, url } = await filled();
  await tree.git('push', '--quiet', url, 'master:trunk', 'master:refs/tags/v1');
  const before = await rulesOf(project);
  const put = (name: string) =>
    holder.app.call('PUT', `/api/v3/projects/${project.id}`, {
      as: project.owner.token,
      json: { default_branch: name },
    });
  t.is((await put('trunk')).status, 200);
  t.deepEqual(await rulesOf(project), before);
  for (const name of ['nowhere', 'v1', 'refs/heads/master', 'master^{commit}', '-x', 'HEAD']) {
    t.is((await put(name)).status, 400, name);
  }
});

test.serial('a build is told whether its branch is protected', async (t) => {
  await choose(2);
  const { project, tree, url, sha } = await filled();
  await tree.git('push', '--quiet', url, 'master:topic', `${sha}:refs/tags/master`);
  const runner = await holder.app.make.runner({ projects: [project] });
  const seen: Record<string, unknown> = {};
  for (let claim = 0; claim < 6; claim += 1) {
    const { body } = await holder.app.call<{
      ref: string;
      tag: boolean;
      variables: { key: string; value: string }[];
    }>('POST', '/ci/api/v1/builds/register', { query: { token: runner.token } });
    if (!body.variables) continue;
    const value = body.variables.find(({ key }) => key === 'CI_COMMIT_REF_PROTECTED')?.value;
    seen[`${body.tag ? 'tag' : 'branch'} ${body.ref}`] = value;
  }
  t.deepEqual(seen, { 'branch master': 'true', 'branch topic': 'false', 'tag master': 'false' });
});
