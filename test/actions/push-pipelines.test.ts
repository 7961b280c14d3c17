import test from 'ava';
import { ciFile, withPushes } from '../support/pushes.ts';

const { empty, filled, pipelines, builds, events, outstanding } = withPushes();

test('without a CI file there is an event and no pipeline', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ README: 'x', 'sub/.gitlab-ci.yml': ciFile }, '[ci skip]');
  await tree.git('push', '--quiet', url, 'master');
  await tree.commit({ '.gitlab-ci.yml/file': ciFile });
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(await pipelines(project), []);
  t.is((await events(project)).length, 2);
});

test('the file is the one at the pushed commit', async (t) => {
  const { project, tree, url } = await filled();
  await tree.git('rm', '--quiet', '.gitlab-ci.yml');
  await tree.commit();
  await tree.git('push', '--quiet', url, 'master');
  await tree.git('push', '--quiet', url, 'HEAD~1:refs/heads/old');
  t.deepEqual(
    (await pipelines(project)).map(({ ref }) => ref),
    ['master', 'old'],
  );
});

test('a broken file makes a failed pipeline that says where, and the mended one runs', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': 'compile:\n  stage: nowhere\n  script: make\n' });
  await tree.git('push', '--quiet', url, 'master');
  const [broken] = await pipelines(project);
  t.is(broken?.status, 'failed');
  t.regex(broken?.yaml_errors ?? '', /^jobs:compile:stage: .*\(line 2\)$/);
  t.deepEqual(await builds(project), []);
  await tree.commit({ '.gitlab-ci.yml': ciFile });
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(
    (await pipelines(project)).map(({ status }) => status),
    ['failed', 'pending'],
  );
  t.deepEqual(await builds(project), [{ name: 'compile', status: 'pending' }]);
});

test('the marker in the message of the tip skips, in others it does not', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': 'broken: [' }, 'One');
  await tree.commit({}, 'Two');
  await tree.commit({}, 'Three [CI Skip]');
  await tree.git('push', '--quiet', url, 'master');
  const [skipped] = await pipelines(project);
  t.deepEqual([skipped?.status, skipped?.yaml_errors], ['skipped', null]);
  await tree.commit({ '.gitlab-ci.yml': ciFile }, 'Four [ci skip]');
  await tree.commit({}, 'Five');
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(
    (await pipelines(project)).map(({ status }) => status),
    ['skipped', 'pending'],
  );
});

test('without a job for the ref there is no pipeline', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': 'ship: {script: x, only: [tags]}' });
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(await pipelines(project), []);
  await tree.git('push', '--quiet', url, 'HEAD:refs/tags/v1');
  t.deepEqual(
    (await pipelines(project)).map(({ ref }) => ref),
    ['v1'],
  );
});

test('while builds are off a push is an event only', async (t) => {
  const { project, tree, url } = await empty({ builds_enabled: false });
  await tree.commit({ '.gitlab-ci.yml': ciFile });
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(await pipelines(project), []);
  t.is((await events(project)).length, 1);
});

for (const [what, content, reason] of [
  ['over 1 MiB', `${ciFile}# ${'x'.repeat(1024 * 1024)}\n`, /larger than 1048576 bytes/],
  ['with NUL bytes', 'compile: {script: "a\0b"}\n', /./],
  ['with an escaped NUL', 'compile: {script: "a\\0b"}\n', /NUL/],
  ['with half a character', 'compile: {script: "a\\uD800b"}\n', /./],
  ['with half a character for a name', '"comp\\uD800ile": {script: make}\n', /./],
  ['in UTF-16', Buffer.from(`\uFEFF${ciFile}`, 'utf16le'), /./],
  ['that is binary', Buffer.from(Array.from({ length: 256 }, (_, index) => index)), /./],
  ['that is empty', '', /empty/],
] as const) {
  test(`a CI file ${what} makes a failed pipeline`, async (t) => {
    const { project, tree, url } = await empty();
    await tree.commit({ '.gitlab-ci.yml': content });
    await tree.git('push', '--quiet', url, 'master');
    const [pipeline] = await pipelines(project);
    t.is(pipeline?.status, 'failed');
    t.regex(pipeline?.yaml_errors ?? '', reason);
    t.is(await outstanding(project), 0);
  });
}

test('a CI file with a byte order mark and names from Object is fine', async (t) => {
  const { project, tree, url } = await empty();
  const text =
    '__proto__: {script: a}\nconstructor: {script: b}\n"größe ✓": {script: c, variables: {ключ: x}}\n';
  await tree.commit({ '.gitlab-ci.yml': `\uFEFF${text}` });
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(
    (await builds(project)).map(({ name }) => name),
    ['__proto__', 'constructor', 'größe ✓'],
  );
});

test('as many tags as a job may have are kept, more are a fault of the file', async (t) => {
  const { project, tree, url } = await empty();
  const push = async (tags: string[]) => {
    await tree.commit({ '.gitlab-ci.yml': JSON.stringify({ compile: { script: 'make', tags } }) });
    await tree.git('push', '--quiet', url, 'master');
  };
  await push(
    Array.from({ length: 50 }, (_, index) => `${String.fromCodePoint(0x4e00 + index * 7).repeat(8)}${index}`),
  );
  await push(Array.from({ length: 400 }, (_, index) => `${index}-${'long'.repeat(40)}`));
  const made = await pipelines(project);
  t.deepEqual(
    made.map(({ status }) => status),
    ['pending', 'failed'],
  );
  t.regex(made[1]?.yaml_errors ?? '', /at most 50 tags/);
});
