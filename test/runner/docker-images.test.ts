import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createDockerExecutor } from '../../runner/executor/docker/docker-executor.ts';
import { FrameReader } from '../../runner/executor/docker/frames.ts';
import { assertAllowed } from '../../runner/executor/docker/image.ts';
import { registryAuth, registryOf } from '../../runner/executor/docker/registry-auth.ts';
import { projectDirOf } from '../../runner/executor/docker/scope.ts';
import { assignAliases, serviceAliases } from '../../runner/executor/docker/service-name.ts';
import { DockerOptions } from '../../runner/executor/docker-options.ts';
import { ExecutorError } from '../../runner/executor/executor-error.ts';
import { dockerTest, testImage } from '../support/docker.ts';
import { dockerBuild, prepareRequest } from '../support/docker-build.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

dockerTest('an image that is not there is the fault of the job when nothing may be pulled', async (t) => {
  const error = await prepareFails(t, { image: 'hearth-test/missing:1', pull_policy: 'never' });
  t.is(error?.kind, 'user');
  t.regex(error?.message ?? '', /hearth-test\/missing:1 is not on the engine.*docker pull/);
});

dockerTest('an image that cannot be pulled is reported with the reason and what to do', async (t) => {
  const image = 'localhost:1/hearth-test/missing:1';
  const error = await prepareFails(t, { image, pull_policy: 'if-not-present' });
  t.is(error?.kind, 'system');
  t.regex(error?.message ?? '', /Cannot pull image localhost:1.*Check that the engine reaches the registry/);
});

dockerTest('a copy on the engine is used with a warning when the pull fails', async (t, engine) => {
  const repo = `localhost:1/hearth-test/copy-${process.pid}`;
  await engine.getImage(await testImage()).tag({ repo, tag: '1' });
  t.teardown(() => engine.getImage(`${repo}:1`).remove());
  const build = await dockerBuild(t, { docker: { image: `${repo}:1`, pull_policy: 'always' } });
  t.regex(build.warnings.join('\n'), /Cannot pull localhost:1.*using the copy/);
  t.is((await build.run('true')).exitCode, 0);
});

dockerTest('an image outside of the allowed ones is refused before anything is made', async (t) => {
  const error = await prepareFails(t, { allowed_images: ['ruby:*'] }, { image: 'python:3' });
  t.is(error?.kind, 'user');
  t.regex(error?.message ?? '', /python:3 is not allowed here: allowed_images.*ruby:\*/);
});

test('allowed images are matched by shell patterns, the own one always', (t) => {
  const rule = {
    option: 'allowed_images',
    patterns: ['ruby:*', 'registry.example.com/**'],
    own: ['alpine:3'],
  };
  for (const image of ['ruby:3.1', 'registry.example.com/a/b:1', 'alpine:3']) {
    t.notThrows(() => assertAllowed(image, rule));
  }
  for (const image of ['ruby', 'ruby/x:1', 'alpine:4']) {
    t.throws(() => assertAllowed(image, rule), { instanceOf: ExecutorError });
  }
  t.notThrows(() => assertAllowed('any', { option: 'allowed_images' }));
});

test('host names of services drop tag, digest and port', (t) => {
  t.deepEqual(serviceAliases('tutum/wordpress:latest'), ['tutum__wordpress', 'tutum-wordpress']);
  t.deepEqual(serviceAliases('registry.example.com:4999/a/b'), [
    'registry.example.com__a__b',
    'registry.example.com-a-b',
  ]);
  t.deepEqual(serviceAliases('postgres'), ['postgres']);
  t.deepEqual(serviceAliases('localhost:5000/redis:7@sha256:0123'), ['localhost__redis', 'localhost-redis']);
});

test('a host name that is taken is left out with a warning', (t) => {
  const warnings: string[] = [];
  const services = assignAliases(['a/b', 'a-b', 'a__b/c'], (text) => warnings.push(text));
  t.deepEqual(services, [
    { image: 'a/b', aliases: ['a__b', 'a-b'] },
    { image: 'a__b/c', aliases: ['a__b__c', 'a__b-c'] },
  ]);
  t.is(warnings.length, 2);
});

test('logins are found by the registry of the image', async (t) => {
  const file = join(await temporaryFolder(t), 'config.json');
  const auth = Buffer.from('user:pass:word').toString('base64');
  const auths = { 'https://index.docker.io/v1/': { auth }, 'registry.example.com:4999': { auth } };
  await writeFile(file, JSON.stringify({ auths }));
  for (const image of ['alpine', 'library/alpine', 'registry.example.com:4999/a/b']) {
    t.like(await registryAuth(image, file), { username: 'user', password: 'pass:word' });
  }
  t.is(await registryAuth('registry.example.com/a', file), undefined);
  t.is(await registryAuth('alpine', `${file}.missing`), undefined);
  t.is(registryOf('localhost/a'), 'localhost');
});

test('the project directory follows the clone address', (t) => {
  const directory = (repo_url: string) => projectDirOf({ repo_url, project_id: 7 });
  t.is(directory('http://gitlab-ci-token:secret@host/tools/hammer.git'), '/builds/tools/hammer');
  t.is(directory('https://host/relative/root/tools/hammer.git'), '/builds/tools/hammer');
  t.is(directory('https://host/..%2f/hammer.git'), '/builds/project-7');
  t.is(directory('not an address'), '/builds/project-7');
});

test('output is cut out of its frames however the chunks fall', (t) => {
  const frame = (text: string, stream = 1) => {
    const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(text.length, 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const all = Buffer.concat([frame('first'), frame(''), frame('second', 2)]);
  for (let size = 1; size <= all.length; size++) {
    const reader = new FrameReader();
    let [out, error] = ['', ''];
    for (let at = 0; at < all.length; at += size) {
      for (const { isError, payload } of reader.read(all.subarray(at, at + size))) {
        if (isError) error += payload;
        else out += payload;
      }
    }
    t.deepEqual([out, error], ['first', 'second']);
  }
});

async function prepareFails(
  t: ExecutionContext,
  docker: Parameters<typeof DockerOptions.parse>[0] & object,
  options = {},
): Promise<ExecutorError | undefined> {
  const executor = createDockerExecutor(DockerOptions.parse({ network_mode: 'none', ...docker }));
  return await t.throwsAsync(executor.prepare(prepareRequest({ options })), { instanceOf: ExecutorError });
}
