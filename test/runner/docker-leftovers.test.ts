import type Docker from 'dockerode';
import { createDockerExecutor } from '../../runner/executor/docker/docker-executor.ts';
import { DockerOptions } from '../../runner/executor/docker-options.ts';
import { dockerTest, serviceImage, testImage } from '../support/docker.ts';
import { dockerBuild, prepareRequest } from '../support/docker-build.ts';

dockerTest('leftovers of this runner go, live builds and other runners stay', async (t, engine) => {
  const services = [await serviceImage()];
  const runnerId = `left-${process.pid}`;
  const dead = await dockerBuild(t, { runnerId, options: { services } });
  const live = await dockerBuild(t, { runnerId, options: { services } });
  const foreign = await dockerBuild(t, { runnerId: `${runnerId}-other`, options: { services } });
  const executor = createDockerExecutor(DockerOptions.parse({}), runnerId);
  await executor.removeLeftovers(new Set([live.id]));
  t.deepEqual(await countOf(engine, dead.id), { containers: 0, networks: 0, volumes: 0 });
  for (const build of [live, foreign]) {
    t.deepEqual(await countOf(engine, build.id), { containers: 3, networks: 1, volumes: 1 });
  }
});

dockerTest('what an earlier process left under the same names gives way', async (t, engine) => {
  const image = await testImage();
  const executor = createDockerExecutor(DockerOptions.parse({ image, pull_policy: 'never' }), 'names');
  const request = prepareRequest({ options: { services: [await serviceImage()] } });
  const lost = await executor.prepare(request);
  t.teardown(() => lost.cleanUp());
  const environment = await executor.prepare(request);
  t.teardown(() => environment.cleanUp());
  t.deepEqual(await countOf(engine, request.build.id), { containers: 3, networks: 1, volumes: 2 });
});

dockerTest('a prepare that fails or is aborted leaves nothing', async (t, engine) => {
  const image = await testImage();
  const executor = createDockerExecutor(DockerOptions.parse({ image, pull_policy: 'never' }), 'fails');
  const abort = new AbortController();
  const request = prepareRequest({ options: { services: [await serviceImage()] }, signal: abort.signal });
  const notice = async (text: string) => {
    if (text.startsWith('Waiting')) abort.abort(new Error('canceled'));
  };
  await t.throwsAsync(executor.prepare({ ...request, notice }), { message: 'canceled' });
  t.deepEqual(await countOf(engine, request.build.id), { containers: 0, networks: 0, volumes: 0 });
});

dockerTest('a volume of the configuration outlives the builds of a slot', async (t, engine) => {
  const docker = { image: await testImage(), pull_policy: 'never', volumes: ['/cache'] };
  const executor = createDockerExecutor(DockerOptions.parse(docker), 'cache');
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
  const [containers, networks, volumes] = await Promise.all([
    engine.listContainers({ all: true, filters }),
    engine.listNetworks({ filters }),
    engine.listVolumes({ filters }),
  ]);
  return {
    containers: containers.length,
    networks: networks.length,
    volumes: (volumes.Volumes ?? []).length,
  };
}

async function removeCache(engine: Docker): Promise<void> {
  const { Volumes } = await engine.listVolumes({ filters: { label: ['hearth.runner=cache'] } });
  for (const { Name } of Volumes ?? []) await engine.getVolume(Name).remove();
}
