import type Docker from 'dockerode';
import { createDockerExecutor } from '../../runner/executor/docker/docker-executor.ts';
import { DockerOptions } from '../../runner/executor/docker-options.ts';
import { dockerTest, serviceImage, testImage } from '../support/docker.ts';
import { dockerBuild, prepareRequest } from '../support/docker-build.ts';

const nothing = { containers: 0, volumes: 0 };

dockerTest('leftovers of this runner go, live builds and other runners stay', async (t, engine) => {
  const services = [await serviceImage()];
  const runnerId = `left-${process.pid}`;
  const dead = await dockerBuild(t, { runnerId, options: { services } });
  const live = await dockerBuild(t, { runnerId, options: { services } });
  const foreign = await dockerBuild(t, { runnerId: `${runnerId}-other`, options: { services } });
  const executor = createDockerExecutor(DockerOptions.parse({}), runnerId);
  await executor.removeLeftovers(new Set([live.id]));
  t.deepEqual(await countOf(engine, dead.id), nothing);
  for (const build of [live, foreign]) {
    t.deepEqual(await countOf(engine, build.id), { containers: 3, volumes: 1 });
  }
});

dockerTest('what an earlier process left under the same names gives way', async (t, engine) => {
  const image = await testImage();
  const executor = createDockerExecutor(DockerOptions.parse({ image, pull_policy: 'never' }), 'names');
  t.teardown(() => executor.close());
  const request = prepareRequest({ options: { services: [await serviceImage()] } });
  const lost = await executor.prepare(request);
  t.teardown(() => lost.cleanUp());
  const environment = await executor.prepare(request);
  t.teardown(() => environment.cleanUp());
  // Volumes have names that never come again: the next clean-up takes them.
  t.deepEqual(await countOf(engine, request.build.id), { containers: 3, volumes: 2 });
});

dockerTest('nothing is left of a build when it has ended', async (t, engine) => {
  const build = await dockerBuild(t);
  t.deepEqual(await countOf(engine, build.id), { containers: 2, volumes: 1 });
  await build.run('true');
  await build.run('true', { kind: 'after_script' });
  t.deepEqual(await countOf(engine, build.id), { containers: 3, volumes: 1 });
  await build.environment.cleanUp();
  t.deepEqual(await countOf(engine, build.id), nothing);
});

dockerTest('nothing is left of a build whose script was aborted', async (t, engine) => {
  const build = await dockerBuild(t);
  const abort = new AbortController();
  const onOutput = () => abort.abort(new Error('canceled'));
  await t.throwsAsync(build.run('echo started; sleep 600', { signal: abort.signal, onOutput }));
  await build.environment.cleanUp();
  t.deepEqual(await countOf(engine, build.id), nothing);
});

dockerTest('a build that ends before its first script was run leaves nothing', async (t, engine) => {
  const build = await dockerBuild(t);
  await build.environment.cleanUp();
  t.deepEqual(await countOf(engine, build.id), nothing);
});

dockerTest('a prepare that fails while the network is being made leaves nothing', async (t, engine) => {
  const options = { image: 'hearth-test/missing:1', pull_policy: 'never' };
  const executor = createDockerExecutor(DockerOptions.parse(options), 'fails-early');
  const request = prepareRequest({});
  await t.throwsAsync(executor.prepare(request), { message: /missing:1 is not on the engine/ });
  // One that the engine still makes would not go with it.
  await executor.close();
  t.deepEqual(await engine.listNetworks({ filters: { label: ['hearth.runner=fails-early'] } }), []);
  t.deepEqual(await countOf(engine, request.build.id), nothing);
});

dockerTest(
  'networks of a dead process go, those of this one and of other runners stay',
  async (t, engine) => {
    const runnerId = `dead-${process.pid}`;
    const make = (runner: string) =>
      engine.createNetwork({
        Name: `hearth-${runner}-network-left`,
        Labels: { 'hearth.runner': runner, 'hearth.role': 'network' },
      });
    const left = await make(runnerId);
    const foreign = await make(`${runnerId}-other`);
    t.teardown(() => foreign.remove());
    await dockerBuild(t, { hasNetwork: true, runnerId });
    const executor = createDockerExecutor(DockerOptions.parse({}), runnerId);
    await executor.removeLeftovers(new Set());
    const networks = await engine.listNetworks({ filters: { label: [`hearth.runner=${runnerId}`] } });
    t.is(networks.length, 1);
    await t.throwsAsync(left.inspect(), { message: /404/ });
    t.truthy(await foreign.inspect());
  },
);

dockerTest('a prepare that is aborted leaves nothing', async (t, engine) => {
  const image = await testImage();
  const executor = createDockerExecutor(DockerOptions.parse({ image, pull_policy: 'never' }), 'fails');
  t.teardown(() => executor.close());
  const abort = new AbortController();
  const request = prepareRequest({ options: { services: [await serviceImage()] }, signal: abort.signal });
  const notice = async (text: string) => {
    if (text.startsWith('Waiting')) abort.abort(new Error('canceled'));
  };
  await t.throwsAsync(executor.prepare({ ...request, notice }), { message: 'canceled' });
  t.deepEqual(await countOf(engine, request.build.id), nothing);
});

dockerTest('a volume of the configuration outlives the builds of a slot', async (t, engine) => {
  const docker = { image: await testImage(), pull_policy: 'never', volumes: ['/cache'] };
  const executor = createDockerExecutor(DockerOptions.parse(docker), 'cache');
  t.teardown(() => executor.close());
  const request = prepareRequest({});
  const run = async (script: string) => {
    const environment = await executor.prepare(request);
    const signal = request.signal;
    const result = await environment.run({ kind: 'script', script, signal, output: async () => {} });
    await environment.cleanUp();
    return result.exitCode;
  };
  t.teardown(() => removeCache(engine));
  t.is(await run('echo kept > /cache/file'), 0);
  t.is(await run('grep kept /cache/file'), 0);
});

async function countOf(engine: Docker, buildId: number) {
  const filters = { label: [`hearth.build=${buildId}`] };
  const [containers, { Volumes: volumes }] = await Promise.all([
    engine.listContainers({ all: true, filters }),
    engine.listVolumes({ filters }),
  ]);
  return { containers: containers.length, volumes: (volumes ?? []).length };
}

async function removeCache(engine: Docker): Promise<void> {
  const { Volumes } = await engine.listVolumes({ filters: { label: ['hearth.runner=cache'] } });
  for (const { Name } of Volumes ?? []) await engine.getVolume(Name).remove();
}
