import test from 'ava';
import { cloneUrl } from '../support/git.ts';
import { withScenes } from '../support/pipeline-scene.ts';
import { PlayedRunner } from '../support/played-runner.ts';

const { scene, trees } = withScenes();

const line = `
compile: {stage: build, script: make}
check: {stage: test, script: make check}
ship: {stage: deploy, script: make ship}
`;

test('stages run one after the other, ids in their order', async (t) => {
  const at = await scene();
  await at.push(`
ship: {stage: deploy, script: x}
check2: {stage: test, script: x}
check1: {stage: test, script: x}
compile: {stage: build, script: x}
`);
  t.deepEqual(await at.states(), ['compile: pending']);
  t.deepEqual(await at.pipelines(), ['pending']);
  const compile = await at.runner.mustClaim();
  t.is(await at.runner.claim(), null, 'nothing else may start yet');
  t.deepEqual(await at.pipelines(), ['running']);
  await at.runner.report(compile, 'success');
  t.deepEqual(await at.states(), ['compile: success', 'check2: pending', 'check1: pending']);
  t.deepEqual(await at.pipelines(), ['running']);
  t.deepEqual(await at.runner.play(), ['check2', 'check1', 'ship']);
  t.deepEqual(await at.states(), ['compile: success', 'check2: success', 'check1: success', 'ship: success']);
  t.deepEqual(await at.pipelines(), ['success']);
  const [times] = await at.app.rows<{ right: boolean }>(
    `select started_at >= created_at and finished_at >= started_at as right from pipelines where project_id = $1`,
    [at.project.id],
  );
  t.true(times?.right);
});

test('after a failure an always job runs, the stage between never', async (t) => {
  const at = await scene();
  await at.push(`
stages: [test, deploy, cleanup]
check: {script: x}
ship: {stage: deploy, script: x}
sweep: {stage: cleanup, when: always, script: x}
`);
  t.deepEqual(await at.runner.play({ check: 'failed' }), ['check', 'sweep']);
  t.deepEqual(await at.states(), ['check: failed', 'sweep: success']);
  t.deepEqual(await at.pipelines(), ['failed']);
});

test('on_failure runs first, then always, and the pipeline stays failed', async (t) => {
  const at = await scene();
  await at.push(`
stages: [test, report, cleanup]
check: {script: x}
tell: {stage: report, when: on_failure, script: x}
thank: {stage: report, script: x}
sweep: {stage: cleanup, when: always, script: x}
`);
  t.deepEqual(await at.runner.play({ check: 'failed' }), ['check', 'tell', 'sweep']);
  t.deepEqual(await at.pipelines(), ['failed']);
  await at.push('check: {script: x}\ntell: {stage: deploy, when: on_failure, script: x}');
  t.deepEqual(await at.runner.play(), ['check'], 'without a failure it never runs');
  t.deepEqual(await at.pipelines(), ['failed', 'success']);
});

test('a job that is allowed to fail holds nothing up and wakes no on_failure job', async (t) => {
  const at = await scene();
  await at.push(`${line}
lint: {stage: test, script: x, allow_failure: true}
tell: {stage: deploy, when: on_failure, script: x}
`);
  t.deepEqual(await at.runner.play({ lint: 'failed' }), ['compile', 'check', 'lint', 'ship']);
  t.deepEqual(await at.pipelines(), ['success']);
});

test('a failure decides only when the other builds of its stage have ended', async (t) => {
  const at = await scene();
  await at.push(`${line}
slow: {stage: test, script: x}
tell: {stage: deploy, when: on_failure, script: x}
`);
  await at.runner.report(await at.runner.mustClaim(), 'success');
  const [check, slow] = [await at.runner.mustClaim(), await at.runner.mustClaim()];
  await at.runner.report(check, 'failed');
  t.deepEqual(await at.states(), ['compile: success', 'check: failed', 'slow: running']);
  t.deepEqual(await at.pipelines(), ['running']);
  await at.runner.report(slow, 'success');
  t.deepEqual((await at.states()).at(-1), 'tell: pending');
  t.deepEqual(await at.runner.play(), ['tell']);
  t.deepEqual(await at.pipelines(), ['failed']);
});

test('a cancelled build stops the line, always jobs included, until it is retried', async (t) => {
  const at = await scene();
  await at.push(`${line}
other: {stage: test, script: x}
sweep: {stage: deploy, when: always, script: x}
`);
  await at.runner.report(await at.runner.mustClaim(), 'success');
  const [check, other] = [await at.runner.mustClaim(), await at.runner.mustClaim()];
  t.is((await at.act('cancel', 'check')).status, 'canceled');
  t.is(await at.runner.report(check, 'success'), 404, 'the runner learns that it is over');
  await at.runner.report(other, 'success');
  t.deepEqual(await at.states(), ['compile: success', 'check: canceled', 'other: success']);
  t.deepEqual(await at.pipelines(), ['canceled']);
  const again = await at.act('retry', 'check');
  t.deepEqual([again.name, again.status], ['check', 'pending']);
  t.true(again.id > check.id);
  t.deepEqual(await at.pipelines(), ['running']);
  t.deepEqual(await at.runner.play(), ['check', 'ship', 'sweep']);
  t.deepEqual(await at.pipelines(), ['success']);
});

test('a pending build that is cancelled is never handed out', async (t) => {
  const at = await scene();
  await at.push(line);
  await at.act('cancel', 'compile');
  t.is(await at.runner.claim(), null);
  t.deepEqual(await at.pipelines(), ['canceled']);
});

test('a retry that succeeds lets the line go on', async (t) => {
  const at = await scene();
  await at.push(line);
  t.deepEqual(await at.runner.play({ check: 'failed' }), ['compile', 'check']);
  t.deepEqual(await at.pipelines(), ['failed']);
  await at.act('retry', 'check');
  t.deepEqual(await at.runner.play(), ['check', 'ship']);
  t.deepEqual(await at.states(), ['compile: success', 'check: failed', 'check: success', 'ship: success']);
  t.deepEqual(await at.pipelines(), ['success']);
});

test('retrying an early build after the end makes no later build a second time', async (t) => {
  const at = await scene();
  await at.push(line);
  await at.runner.play();
  await at.act('retry', 'compile');
  t.deepEqual(await at.pipelines(), ['running']);
  t.deepEqual(await at.runner.play(), ['compile']);
  t.deepEqual(await at.pipelines(), ['success']);
  t.is((await at.builds()).length, 4);
  await at.act('retry', 'compile');
  t.deepEqual(await at.runner.play({ compile: 'failed' }), ['compile']);
  t.deepEqual(await at.pipelines(), ['failed']);
});

test('a stage without jobs for the ref is passed over, and an on_failure job first never runs', async (t) => {
  const at = await scene();
  await at.push(`
tell: {stage: build, when: on_failure, script: x}
compile: {stage: build, script: x}
check: {stage: test, only: [tags], script: x}
ship: {stage: deploy, script: x}
`);
  t.deepEqual(await at.runner.play(), ['compile', 'ship']);
  await at.tree.git('push', '--quiet', at.url, 'HEAD:refs/tags/v1');
  t.deepEqual(await at.runner.play(), ['compile', 'check', 'ship']);
  t.deepEqual(await at.pipelines(), ['success', 'success']);
});

test('a broken file has no builds, the mended one runs', async (t) => {
  const at = await scene();
  await at.push('compile: {stage: nowhere, script: x}');
  t.is(await at.runner.claim(), null);
  await at.push(line);
  t.deepEqual(await at.runner.play(), ['compile', 'check', 'ship']);
  t.deepEqual(await at.pipelines(), ['failed', 'success']);
});

test('the marker on the tip of three commits skips; without a job there is no pipeline', async (t) => {
  const at = await scene();
  await at.tree.commit({}, 'One [ci skip]');
  await at.tree.commit({}, 'Two');
  await at.push(line, { message: 'Three [ci skip]' });
  t.is(await at.runner.claim(), null);
  t.deepEqual(await at.pipelines(), ['skipped']);
  await at.push('ship: {only: [tags], script: x}');
  t.is(await at.runner.claim(), null);
  t.deepEqual(await at.pipelines(), ['skipped']);
});

test('of two runners that ask for one build one gets it', async (t) => {
  const at = await scene();
  const other = new PlayedRunner(at.app, await at.app.make.runner({ projects: [at.project] }));
  await at.push(line);
  const claims = await Promise.all([at.runner.claim(), other.claim(), at.runner.claim(), other.claim()]);
  t.is(claims.filter((build) => build !== null).length, 1);
});

test('a success after a cancel is refused, and nothing comes of it', async (t) => {
  const at = await scene();
  await at.push(line);
  const build = await at.runner.mustClaim();
  await at.act('cancel', 'compile');
  t.is(await at.runner.report(build, 'success'), 404);
  t.is(await at.runner.report(build, 'running'), 404);
  t.deepEqual(await at.states(), ['compile: canceled']);
  t.deepEqual(await at.pipelines(), ['canceled']);
});

test('the builds of a stage that was retried are the ones that count', async (t) => {
  const at = await scene();
  await at.push(`${line}other: {stage: test, script: x}`);
  await at.runner.play({ check: 'failed', other: 'failed' });
  await at.act('retry', 'check');
  t.deepEqual(await at.runner.play(), ['check']);
  t.deepEqual(await at.pipelines(), ['failed'], 'the other one has still failed');
  await at.act('retry', 'other');
  t.deepEqual(await at.runner.play(), ['other', 'ship']);
  t.deepEqual(await at.pipelines(), ['success']);
});

test('a build whose branch was deleted or forced away can still fetch its commit', async (t) => {
  const at = await scene();
  await at.push('check: {script: x}');
  const deleted = await at.push('check: {script: y}', { to: 'refs/heads/side' });
  const forced = await at.push('check: {script: z}', { to: 'refs/heads/other' });
  const builds = await Promise.all([at.runner.mustClaim(), at.runner.mustClaim(), at.runner.mustClaim()]);
  await at.tree.git('push', '--quiet', at.url, ':side');
  await at.tree.git('push', '--quiet', '--force', at.url, 'HEAD~2:other');
  for (const sha of [deleted, forced]) {
    const build = builds.find((candidate) => candidate.sha === sha);
    for (const version of ['0', '2']) {
      const copy = await trees.fresh();
      const url = build?.repo_url ?? '';
      await copy.git('-c', `protocol.version=${version}`, 'fetch', '--quiet', '--depth=1', url, sha);
      t.is(await copy.git('rev-parse', 'FETCH_HEAD'), sha);
    }
    t.is(await at.runner.report({ id: build?.id ?? 0 }, 'success'), 200);
  }
  t.deepEqual(await at.pipelines(), ['running', 'success', 'success', 'pending']);
});

test('a build of a later stage belongs to whom the one before it belonged', async (t) => {
  const at = await scene();
  const developer = await at.app.make.member(at.project, 'developer');
  await at.tree.commit({ '.gitlab-ci.yml': line });
  const url = cloneUrl(at.app, at.project, { password: developer.token });
  await at.tree.git('push', '--quiet', url, 'HEAD:master');
  await at.runner.play();
  const rows = await at.app.rows<{ user_id: number }>(
    'select distinct user_id from builds where project_id = $1',
    [at.project.id],
  );
  t.deepEqual(rows, [{ user_id: developer.id }]);
});
