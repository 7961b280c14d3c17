import { join } from 'node:path';
import test from 'ava';
import { createDockerExecutor } from '../../runner/executor/docker/docker-executor.ts';
import { DockerOptions } from '../../runner/executor/docker-options.ts';
import { ExecutorError } from '../../runner/executor/executor-error.ts';
import { derivedImage, dockerTest, emptyImage, testImage, userImage } from '../support/docker.ts';
import { dockerBuild, prepareRequest } from '../support/docker-build.ts';
import { engineProxy } from '../support/docker-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

dockerTest('the exit code of the script is the result', async (t) => {
  const build = await dockerBuild(t);
  const result = await build.run('exit 42');
  t.is(result.exitCode, 42);
  t.is(result.outOfMemory, undefined);
});

dockerTest('a signal that ends the script shows as 128 plus its number', async (t) => {
  const build = await dockerBuild(t);
  t.is((await build.run('sh -c "kill -KILL \\$\\$"')).exitCode, 137);
});

dockerTest('stdout and stderr arrive in order and byte by byte', async (t) => {
  const build = await dockerBuild(t);
  const result = await build.run(String.raw`printf 'a\377\000b'; echo 1 >&2; echo 2; echo 3 >&2`);
  t.deepEqual(result.bytes, Buffer.from('a\xff\x00b1\n2\n3\n', 'latin1'));
});

dockerTest('a lot of output arrives whole', async (t) => {
  const build = await dockerBuild(t);
  const result = await build.run('seq 1 200000');
  t.is(result.output, Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(''));
});

dockerTest('output is handed over one part after the other', async (t) => {
  const build = await dockerBuild(t);
  let isBusy = false;
  await build.environment.run({
    kind: 'script',
    script: 'seq 1 100000',
    signal: new AbortController().signal,
    output: async () => {
      t.false(isBusy);
      isBusy = true;
      await new Promise(setImmediate);
      isBusy = false;
    },
  });
});

dockerTest('standard input is closed', async (t) => {
  const build = await dockerBuild(t);
  t.is((await build.run('cat; echo end')).output, 'end\n');
});

dockerTest('an image without a shell fails the script with a message', async (t) => {
  const build = await dockerBuild(t, { docker: { image: await emptyImage() } });
  const result = await build.run('true');
  t.is(result.exitCode, 1);
  t.regex(result.output, /no shell/);
});

dockerTest('variables are in the environment of the container', async (t) => {
  const long = 'x'.repeat(200_000);
  const variables = [
    { key: 'GREETING', value: 'a "b" $c\nd', public: false },
    { key: 'TOO_LONG_FOR_THE_KERNEL', value: long, public: true },
  ];
  const build = await dockerBuild(t, { variables });
  t.is((await build.run('printf %s "$GREETING"')).output, 'a "b" $c\nd');
});

dockerTest('the image name may hold variables', async (t) => {
  const [name, tag = ''] = (await testImage()).split(':');
  const variables = [{ key: 'TAG', value: tag, public: true }];
  const build = await dockerBuild(t, { options: { image: `${name}:$TAG` }, variables });
  t.is((await build.run('echo runs')).output, 'runs\n');
});

dockerTest('the after_script runs in a new container on the same files', async (t) => {
  const build = await dockerBuild(t);
  await build.run('echo kept > file; echo lost > /tmp/file');
  const result = await build.run('cat file; cat /tmp/file', { kind: 'after_script' });
  t.is(result.exitCode, 1);
  t.regex(result.output, /^kept\n.*No such file/);
});

dockerTest('a script may hold quotes, be long, and leave nothing on a disk', async (t) => {
  const build = await dockerBuild(t);
  const long = `it's "long" \\ $HOME `.repeat(20_000);
  const result = await build.run(`text='${long.replaceAll("'", `'\\''`)}'\nprintf %s "$text"; ls -a / /tmp`);
  t.true(result.output.startsWith(long));
  t.false(result.output.includes('hearth'));
});

dockerTest(
  'a script with a syntax error fails, and one that stops half-way keeps its exit code',
  async (t) => {
    const build = await dockerBuild(t);
    t.not((await build.run('echo "open')).exitCode, 0);
    t.is((await build.run('false; echo never', { kind: 'after_script' })).exitCode, 1);
  },
);

dockerTest('a trap that is left still sets the exit code and writes', async (t) => {
  const build = await dockerBuild(t);
  const result = await build.run('trap "echo bye; exit 3" EXIT; true');
  t.deepEqual([result.exitCode, result.output], [3, 'bye\n']);
  const calm = await build.run('trap "echo bye" EXIT; set -x; true', { kind: 'after_script' });
  t.deepEqual([calm.exitCode, calm.output], [0, '+ true\nbye\n']);
});

dockerTest('a script that goes on after a fault has the exit code of its last command', async (t) => {
  const build = await dockerBuild(t);
  t.is((await build.run('set +e; false; sh -c "exit 5"')).exitCode, 5);
  t.is((await build.run('set +e; false; true', { kind: 'after_script' })).exitCode, 0);
});

dockerTest('what an entrypoint writes is shown', async (t) => {
  const entrypoint = ['sh', '-c', 'echo out; echo error >&2; exec "$@"', 'sh'];
  const image = await derivedImage('hearth-test/talking', [`ENTRYPOINT ${JSON.stringify(entrypoint)}`]);
  const build = await dockerBuild(t, { docker: { image } });
  const { output } = await build.run('echo script');
  t.deepEqual(output.split('\n').sort(), ['', 'error', 'out', 'script']);
});

dockerTest('an image whose entrypoint does not run the command ends at once', async (t) => {
  const image = await derivedImage('hearth-test/entrypoint', ['ENTRYPOINT ["sh", "-c", "exit 7"]']);
  const build = await dockerBuild(t, { docker: { image } });
  t.is((await build.run('echo never')).exitCode, 7);
});

dockerTest('limits, security and labels are set on the container', async (t, engine) => {
  const docker = { memory: '64m', cpus: 0.5, pids_limit: 100, shm_size: '8m', cap_drop: ['NET_RAW'] };
  const build = await dockerBuild(t, { docker, runnerId: `limits-${process.pid}` });
  const [container] = await engine.listContainers({
    all: true,
    filters: { label: [`hearth.build=${build.id}`, 'hearth.role=build'] },
  });
  const { HostConfig: host, Config: config } = await engine.getContainer(container?.Id ?? '').inspect();
  t.like(host, {
    Memory: 64 * 2 ** 20,
    NanoCpus: 5e8,
    PidsLimit: 100,
    ShmSize: 8 * 2 ** 20,
    Privileged: false,
  });
  t.deepEqual([host.SecurityOpt, host.CapDrop], [['no-new-privileges'], ['NET_RAW']]);
  t.like(config.Labels, {
    'hearth.runner': `limits-${process.pid}`,
    'hearth.build': String(build.id),
    'hearth.project': '7',
    'hearth.role': 'build',
  });
  t.is((await build.run('grep NoNewPrivs /proc/self/status')).output.trim(), 'NoNewPrivs:\t1');
});

dockerTest('a script beyond the memory limit is told from one that was killed otherwise', async (t) => {
  const told: unknown[] = [];
  // An engine under load now and then loses the reason of an end: 4 of 200 when seven processes shared a core.
  while (told.length < 5 && !told.includes(true)) {
    const build = await dockerBuild(t, { docker: { memory: '16m' } });
    const result = await build.run('exec tail /dev/zero');
    t.is(result.exitCode, 137);
    told.push(result.outOfMemory);
  }
  t.true(told.includes(true));
});

dockerTest('a command that is killed within the memory limit is not out of memory', async (t) => {
  const build = await dockerBuild(t, { docker: { memory: '16m' } });
  const result = await build.run(`sh -c 'kill -9 $$'`);
  t.deepEqual([result.exitCode, result.outOfMemory], [137, undefined]);
});

dockerTest('the user of the image is kept, owns the sources and may write them', async (t) => {
  const build = await dockerBuild(t, { docker: { image: await userImage('worker') } });
  const result = await build.run('id -u; stat -c %u:%g .; echo more > file; mkdir -p a/b; ls');
  t.is(result.output, '1000\n1000:1000\na\nfile\n');
});

dockerTest('an abort lets the script tidy up', async (t) => {
  const build = await dockerBuild(t);
  const abort = new AbortController();
  let output = '';
  const running = build.run('trap "echo tidied up" EXIT; echo started; sleep 600', {
    signal: abort.signal,
    onOutput: (text) => {
      output = text;
      abort.abort(new Error('canceled'));
    },
  });
  await t.throwsAsync(running, { message: 'canceled' });
  t.regex(output, /started\n(.|\n)*tidied up\n/);
});

dockerTest('an abort ends a script whose processes ignore TERM', async (t, engine) => {
  const build = await dockerBuild(t, { docker: { killGraceMs: 300 } });
  const abort = new AbortController();
  const script = `trap "" TERM; sh -c 'trap "" TERM; echo started; while :; do sleep 1; done'`;
  const running = build.run(script, {
    signal: abort.signal,
    onOutput: () => abort.abort(new Error('canceled')),
  });
  await t.throwsAsync(running, { message: 'canceled' });
  t.deepEqual(await engine.listContainers({ filters: { label: [`hearth.build=${build.id}`] } }), []);
});

dockerTest('an engine that goes away under a build is a system failure that names it', async (t) => {
  const proxy = await engineProxy(join(await temporaryFolder(t), 'docker.sock'));
  const build = await dockerBuild(t, { docker: { host: proxy.address } });
  const running = build.run('echo started; sleep 600', { onOutput: () => proxy.close() });
  const error = await t.throwsAsync(running, { instanceOf: ExecutorError });
  t.is(error?.kind, 'system');
  t.true(error?.message.includes(`The Docker engine at ${proxy.address} does not answer`));
  await t.throwsAsync(build.environment.cleanUp(), { instanceOf: ExecutorError });
  await proxy.open();
  await build.environment.cleanUp();
  proxy.close();
});

test('an engine that is not there is a system failure', async (t) => {
  const executor = createDockerExecutor(DockerOptions.parse({ host: '/nowhere/docker.sock' }));
  const error = await t.throwsAsync(executor.prepare(prepareRequest({})), { instanceOf: ExecutorError });
  t.is(error?.kind, 'system');
});
