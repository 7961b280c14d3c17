import test from 'ava';
import { pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { readRef } from '../../server/git/refs.ts';
import { linesForPusher } from '../../server/transport/push-notices.ts';
import { packOf } from '../support/git.ts';
import { ciFile, type Pushed, withPushes } from '../support/pushes.ts';

const { empty, filled, pipelines, builds } = withPushes();

/** Lines that a client shows as coming from the server. */
function remoteLines(stderr: string): string[] {
  return [...stderr.matchAll(/^remote: (.*)$/gm)].map(([, line]) => (line ?? '').trimEnd());
}

async function pushed(tree: Pushed['tree'], ...args: string[]): Promise<string[]> {
  const ran = await tree.try('push', ...args);
  if (ran.code !== 0) throw new Error(ran.stderr);
  return remoteLines(ran.stderr);
}

const broken = 'compile:\n  stage: nowhere\n  script: make\n  colour: red\n';

for (const version of ['0', '1', '2']) {
  test(`a client of protocol version ${version} shows what is wrong with the file, and its push is accepted`, async (t) => {
    const { project, tree, url, dir } = await empty();
    const sha = await tree.commit({ '.gitlab-ci.yml': broken });
    const lines = await pushed(tree, '--quiet', url, 'master');
    await tree.git('-c', `protocol.version=${version}`, 'push', '--quiet', url, 'HEAD:refs/heads/other');
    t.is(await readRef(dir, 'refs/heads/master'), sha);
    t.deepEqual(
      lines.map((line) => line.replace(/Pipeline \d+/, 'Pipeline')),
      [
        'Pipeline of master failed: .gitlab-ci.yml cannot be used',
        '  error: jobs:compile:stage: must be one of the stages: build, test, deploy (line 2)',
        '  error: jobs:compile: unknown key "colour" (line 4)',
      ],
    );
    t.deepEqual(
      (await pipelines(project)).map(({ status }) => status),
      ['failed', 'failed'],
    );
  });
}

test('the pipeline and its status are named', async (t) => {
  const { tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': ciFile });
  t.regex((await pushed(tree, url, 'master')).join('\n'), /^Pipeline \d+ of master is pending$/);
});

test('warnings of a file that runs are shown', async (t) => {
  const { tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': 'compile: {script: make, retry: 2}\n' });
  const [pipeline, warning, ...more] = await pushed(tree, url, 'master');
  t.regex(pipeline ?? '', /^Pipeline \d+ of master is pending$/);
  t.is(warning, '  warning: jobs:compile:retry: is ignored: the job runs once (line 1)');
  t.deepEqual(more, []);
});

test('without a CI file nothing is said', async (t) => {
  const { tree, url } = await empty();
  await tree.commit({ README: 'x' });
  t.deepEqual(await pushed(tree, url, 'master'), []);
});

test('the option ci.skip makes a pipeline that is skipped', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': broken });
  const lines = await pushed(tree, '-o', 'ci.skip', url, 'master', 'HEAD:refs/tags/v1');
  t.deepEqual(
    lines.map((line) => line.replace(/Pipeline \d+/, 'Pipeline')),
    ['Pipeline of master is skipped', 'Pipeline of v1 is skipped'],
  );
  t.deepEqual(
    (await pipelines(project)).map(({ ref, status, yaml_errors }) => [ref, status, yaml_errors]),
    [
      ['master', 'skipped', null],
      ['v1', 'skipped', null],
    ],
  );
  await tree.commit({ '.gitlab-ci.yml': ciFile });
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(await builds(project), [{ name: 'compile', status: 'pending' }]);
});

test('an option about pipelines that is not known is named, others are not', async (t) => {
  const { project, tree, url } = await filled();
  await tree.commit();
  const options = ['-o', 'ci.variable=A=secret', '-o', 'merge_request.create', '-o', 'ci.skipp'];
  t.deepEqual((await pushed(tree, '--quiet', ...options, url, 'master')).slice(0, -1), [
    'Push option "ci.variable" is not known here',
    'Push option "ci.skipp" is not known here',
  ]);
  t.is((await pipelines(project)).at(-1)?.status, 'pending');
});

test('of many refs in one push twenty get a pipeline, and the pusher hears of the others', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': broken });
  const refs = Array.from({ length: 23 }, (_, index) => `HEAD:refs/heads/b${index}`);
  const lines = await pushed(tree, '--quiet', url, ...refs);
  t.is(lines[0], 'No pipeline for 3 of the refs: one push starts at most 20');
  t.is(lines.length, 61);
  t.is(lines.at(-1), '1 more lines are not shown');
  t.is((await pipelines(project)).length, 20);
});

test('a client without side band gets the plain report, once the pipeline is there', async (t) => {
  const { project, tree, url, dir } = await empty();
  const sha = await tree.commit({ '.gitlab-ci.yml': broken });
  const pack = await packOf(tree.dir, sha);
  for (const [capabilities, report] of [
    ['report-status', /^000eunpack ok\n0016ok refs\/heads\/one\n0000$/],
    ['', /^$/],
  ] as const) {
    const name = capabilities ? 'one' : 'two';
    const command = pktLine(`${zeroSha} ${sha} refs/heads/${name}\0${capabilities}`);
    const answer = await fetch(`${url.replace(/\/\/.*@/, '//')}/git-receive-pack`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`x:${project.owner.token}`).toString('base64')}` },
      body: Buffer.concat([command, Buffer.from('0000'), pack]),
    });
    t.regex(await answer.text(), report);
    t.is(await readRef(dir, `refs/heads/${name}`), sha);
    t.is((await pipelines(project)).filter(({ ref }) => ref === name).length, 1);
  }
});

test('names from the file cannot command the terminal', async (t) => {
  const { tree, url } = await empty();
  const name = 'a\\e[2Jb\\r\\u202e';
  await tree.commit({ '.gitlab-ci.yml': `"${name}${'x'.repeat(600)}": make\n` });
  const ran = await tree.try('push', url, 'master');
  t.is(ran.code, 0);
  const [, error] = remoteLines(ran.stderr);
  t.regex(error ?? '', /^ {2}error: jobs:a \[2Jb {2}x+…$/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not come through
  t.notRegex(error ?? '', /[\x00-\x1f\u202e]/);
});

test('long lists are cut', (t) => {
  const list = (count: number) => Array.from({ length: count }, (_, index) => `fault ${index}`).join('\n');
  const pipeline = { id: 1, ref: 'master', status: 'failed', yaml_errors: list(9), yaml_warnings: list(4) };
  const telling = {
    pipelines: [pipeline],
    leftOut: 0,
    pipelinesPerPush: 20,
    unknownOptions: [],
    unreadableRefs: [],
  };
  const lines = linesForPusher(telling);
  t.is(lines.length, 1 + 6 + 4);
  t.is(lines[6], '  and 4 more errors');
  t.is(lines[10], '  and 1 more warning');
});
