import test from 'ava';
import { withWorkTrees } from '../support/git.ts';
import { withHearth } from '../support/with-hearth.ts';

const jobCount = 20;
const runnerNames = ['one', 'two', 'three'];
const trees = withWorkTrees();
const hearths = withHearth();

test('three runners share the builds of a pipeline, and each build runs once', async (t) => {
  const hearth = await hearths.start();
  const forge = await hearth.forge();
  const project = await forge.createProject('shared');
  const options = ['--executor', 'shell'];
  await Promise.all(
    runnerNames.map((name) =>
      hearth.addRunner({ name, token: project.runners_token, options, concurrent: 2 }),
    ),
  );
  const tree = await trees.fresh();
  const jobs = Array.from({ length: jobCount }, (_, index) => `job ${index}: { script: ["true"] }`);
  await tree.commit({ '.gitlab-ci.yml': jobs.join('\n') });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');

  const builds = await forge.ended(project, jobCount);
  t.deepEqual(
    builds.map(({ name, status }) => `${name}: ${status}`),
    jobs.map((_, index) => `job ${index}: success`),
  );
  const logs = [...hearth.runners.values()].map((runner) => runner.stderr).join('');
  const started = [...logs.matchAll(/"build":(\d+).*"msg":"build started"/g)].map((match) =>
    Number(match[1]),
  );
  t.deepEqual(
    started.sort((a, b) => a - b),
    builds.map(({ id }) => id),
  );
  t.true(builds.every(({ runner }) => runner !== null && runnerNames.includes(runner.description)));
});
