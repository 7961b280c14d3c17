import test from 'ava';
import { commitStatus } from '../../server/ci/status.ts';
import { pipelinesOfCommits } from '../../server/queries/commit-status.ts';
import { type Scene, withScenes } from '../support/pipeline-scene.ts';

const { scene } = withScenes();

interface Pipeline {
  id: number;
  status: string;
  ref: string;
  yaml_errors: string | null;
  manual_jobs: { id: number; name: string; stage: string }[];
}

const line = `
compile: {stage: build, script: make}
check: {stage: test, script: make check}
ship: {stage: deploy, script: make ship}
`;

const byHand = `${line}
publish: {stage: deploy, script: x, when: manual}
announce: {stage: test, script: x, when: manual, tags: []}
`;

/** Newest first. */
async function pipelines(at: Scene): Promise<Pipeline[]> {
  return (await at.call<Pipeline[]>('GET', '/pipelines')).body;
}

async function announced(at: Scene, name: string): Promise<number> {
  const job = (await pipelines(at))[0]?.manual_jobs.find((candidate) => candidate.name === name);
  if (!job) throw new Error(`${name} does not wait to be started by hand`);
  return job.id;
}

function play(at: Scene, id: number) {
  return at.call<{ id: number; status: string; message?: string }>('POST', `/builds/${id}/play`);
}

async function statusOf(at: Scene, sha: string): Promise<string | null> {
  const found = await pipelinesOfCommits(at.app.work.em, at.project.id, [sha]);
  return commitStatus(found.get(sha) ?? []);
}

test('a pipeline ends without its manual jobs, which its page announces', async (t) => {
  const at = await scene();
  await at.push(byHand);
  t.deepEqual(
    (await pipelines(at))[0]?.manual_jobs.map(({ name, stage }) => [name, stage]),
    [
      ['publish', 'deploy'],
      ['announce', 'test'],
    ],
  );
  t.deepEqual(await at.runner.play(), ['compile', 'check', 'ship']);
  t.deepEqual(await at.pipelines(), ['success']);
  t.is((await pipelines(at))[0]?.manual_jobs.length, 2);
  t.is((await at.call('GET', `/builds/${await announced(at, 'publish')}`)).status, 404, 'no build yet');
});

test('a job that is started by hand is a build with the announced id, and knows how it was started', async (t) => {
  const at = await scene();
  await at.push(byHand);
  await at.runner.play();
  const id = await announced(at, 'publish');
  const started = await play(at, id);
  t.is(started.status, 200);
  t.like(started.body, { id, name: 'publish', status: 'pending', user: { id: at.project.owner.id } });
  t.deepEqual(await at.pipelines(), ['running']);
  t.deepEqual(
    (await pipelines(at))[0]?.manual_jobs.map(({ name }) => name),
    ['announce'],
  );
  const build = await at.runner.mustClaim();
  t.is(build.id, id);
  const values = new Map(build.variables.map(({ key, value }) => [key, value]));
  t.deepEqual([values.get('CI_BUILD_MANUAL'), values.get('CI_JOB_MANUAL')], ['true', 'true']);
  t.is(values.get('CI_PIPELINE_IID'), '1');
  await at.runner.report(build, 'failed');
  t.deepEqual(await at.pipelines(), ['success'], 'such jobs may fail unless the file says otherwise');
  const again = await at.act('retry', 'publish');
  t.true(again.id > id);
  t.deepEqual(await at.runner.play(), ['publish']);
  t.deepEqual(await at.pipelines(), ['success']);
});

test('a job may be started by hand once what comes before it has ended, however it went', async (t) => {
  const at = await scene();
  await at.push(byHand);
  const id = await announced(at, 'announce');
  const early = await play(at, id);
  t.is(early.status, 400);
  t.deepEqual(early.body as unknown, { message: 'Unplayable Build' });
  await at.runner.report(await at.runner.mustClaim(), 'failed');
  t.deepEqual(await at.pipelines(), ['failed']);
  t.is((await play(at, id)).status, 200);
  t.deepEqual(await at.runner.play(), ['announce']);
  t.deepEqual(
    await at.states(),
    ['announce: success', 'compile: failed'],
    'the announced id is the older one',
  );
  t.deepEqual(await at.pipelines(), ['failed']);
});

test('what cannot be started by hand', async (t) => {
  const at = await scene();
  const other = await scene();
  await at.push(byHand);
  await other.push(byHand);
  await at.runner.play();
  const id = await announced(at, 'publish');
  t.is((await play(at, id)).status, 200);
  const [build] = await at.builds();
  for (const there of [id, build?.id ?? 0]) {
    const refused = await play(at, there);
    t.is(refused.status, 400);
    t.deepEqual(refused.body as unknown, { message: 'Unplayable Build' });
  }
  for (const absent of [await announced(other, 'publish'), 999_999]) {
    const refused = await play(at, absent);
    t.is(refused.status, 404);
    t.deepEqual(refused.body as unknown, { message: '404 Not Found' });
  }
  t.is((await at.builds()).filter(({ name }) => name === 'publish').length, 1);
});

test('a file with manual jobs alone makes a pipeline that waits for nobody', async (t) => {
  const at = await scene();
  await at.push('publish: {script: x, when: manual}');
  t.deepEqual(await at.pipelines(), ['skipped']);
  t.is((await play(at, await announced(at, 'publish'))).status, 200);
  t.deepEqual(await at.pipelines(), ['pending']);
  t.deepEqual(await at.runner.play(), ['publish']);
  t.deepEqual(await at.pipelines(), ['success']);
});

test('stages go on whatever services outside say; the pipeline does not', async (t) => {
  const at = await scene();
  const sha = await at.push(line);
  const post = (state: string, name: string) =>
    at.call<{ status: string }>('POST', `/statuses/${sha}`, { state, name, ref: 'master' });
  await post('failed', 'lint');
  await post('pending', 'deploy preview');
  t.deepEqual(await at.pipelines(), ['running']);
  t.deepEqual(await at.runner.play(), ['compile', 'check', 'ship']);
  t.deepEqual(await at.pipelines(), ['running'], 'one of them has not come to its end');
  t.is(await statusOf(at, sha), 'running');
  await post('success', 'deploy preview');
  t.deepEqual(await at.pipelines(), ['failed']);
  t.is(await statusOf(at, sha), 'failed');
  await post('success', 'lint');
  t.deepEqual(await at.pipelines(), ['success']);
  t.is(await statusOf(at, sha), 'success');
  const listed = await at.call<{ name: string }[]>('GET', `/repository/commits/${sha}/statuses`);
  t.deepEqual(
    listed.body.map(({ name }) => name),
    ['compile', 'deploy preview', 'check', 'ship', 'lint'],
  );
});

test('a commit has one status over the pipelines of its branch and its tag', async (t) => {
  const at = await scene();
  const sha = await at.push('check: {script: x, only: [tags]}');
  t.is(await statusOf(at, sha), null, 'nothing for the branch');
  await at.tree.git('push', '--quiet', at.url, 'HEAD:refs/tags/v1', 'HEAD:refs/tags/v2');
  t.is(await statusOf(at, sha), 'pending');
  await at.runner.report(await at.runner.mustClaim(), 'failed');
  t.is(await statusOf(at, sha), 'running');
  await at.runner.play();
  t.is(await statusOf(at, sha), 'failed');
});

test('cancelling a pipeline stops all of it, always jobs included', async (t) => {
  const at = await scene();
  await at.push(`
check: {script: x}
slow: {script: x}
lint: {script: x, allow_failure: true}
sweep: {stage: deploy, script: x, when: always}
`);
  await at.runner.report(await at.runner.mustClaim(), 'failed');
  await at.runner.mustClaim();
  const [{ id } = { id: 0 }] = await pipelines(at);
  const canceled = await at.call<Pipeline>('POST', `/pipelines/${id}/cancel`);
  t.is(canceled.status, 201);
  t.deepEqual(await at.states(), ['check: failed', 'slow: canceled', 'lint: canceled']);
  t.is(canceled.body.status, 'failed');
  t.is(await at.runner.claim(), null);
  const again = await at.call<Pipeline>('POST', `/pipelines/${id}/cancel`);
  t.deepEqual(again.body, canceled.body, 'nothing is left to cancel');
});

test('retrying a pipeline runs what has failed, and the line goes on', async (t) => {
  const at = await scene();
  await at.push(`${line}
lint: {stage: test, script: x}
style: {stage: test, script: x, allow_failure: true}
`);
  t.deepEqual(await at.runner.play({ check: 'failed', style: 'failed' }), [
    'compile',
    'check',
    'lint',
    'style',
  ]);
  const [{ id } = { id: 0 }] = await pipelines(at);
  const retried = await at.call<Pipeline>('POST', `/pipelines/${id}/retry`);
  t.is(retried.status, 201);
  t.is(retried.body.status, 'running');
  t.deepEqual(await at.runner.play(), ['check', 'style', 'ship']);
  t.deepEqual(await at.pipelines(), ['success']);
  const again = await at.call<Pipeline>('POST', `/pipelines/${id}/retry`);
  t.is(again.body.status, 'success');
  t.is((await at.builds()).length, 7);
});

test('what is wrong with a file, and what is odd in one that runs, is shown with its pipeline', async (t) => {
  const at = await scene();
  await at.push('compile: {stage: nowhere, script: x}');
  await at.push('compile: {script: x}\ncompile: {script: y}');
  const [odd, broken] = await at
    .call<Record<string, string | null>[]>('GET', '/pipelines')
    .then(({ body }) => body);
  t.like(broken, { status: 'failed', yaml_warnings: null });
  t.regex(broken?.yaml_errors ?? '', /compile:stage.*line 1/);
  t.like(odd, { status: 'pending', yaml_errors: null });
  t.regex(odd?.yaml_warnings ?? '', /compile/);
});
