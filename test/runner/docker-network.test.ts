import test, { type ExecutionContext } from 'ava';
import type Docker from 'dockerode';
import { createDockerExecutor } from '../../runner/executor/docker/docker-executor.ts';
import { connectEngine } from '../../runner/executor/docker/engine.ts';
import { networkError } from '../../runner/executor/docker/network.ts';
import { DockerOptions } from '../../runner/executor/docker-options.ts';
import type { Executor } from '../../runner/executor/executor.ts';
import { ExecutorError } from '../../runner/executor/executor-error.ts';
import { dockerTest, testImage } from '../support/docker.ts';
import { dockerBuild, prepareRequest } from '../support/docker-build.ts';

dockerTest('the network of a build is a bridge that says whose it is', async (t, engine) => {
  const build = await dockerBuild(t, { hasNetwork: true, runnerId: `network-${process.pid}` });
  const networks = await networksOf(engine, `network-${process.pid}`);
  t.is(networks.length, 1);
  t.is(networks[0]?.Driver, 'bridge');
  const filters = { label: [`hearth.build=${build.id}`, 'hearth.role=build'] };
  const [container] = await engine.listContainers({ all: true, filters });
  t.deepEqual(Object.keys(container?.NetworkSettings.Networks ?? {}), [networks[0]?.Name]);
});

dockerTest('a network mode of the configuration takes the place of the network', async (t, engine) => {
  const build = await dockerBuild(t, {
    docker: { network_mode: 'none' },
    hasNetwork: true,
    runnerId: `mode-${process.pid}`,
  });
  t.deepEqual(await networksOf(engine, `mode-${process.pid}`), []);
  t.is((await build.run('ls /sys/class/net')).output.trim(), 'lo');
});

dockerTest('a container of somebody else does not come to the next build, and stays', async (t, engine) => {
  const runnerId = `guest-${process.pid}`;
  const build = await dockerBuild(t, { hasNetwork: true, runnerId });
  const [network] = await networksOf(engine, runnerId);
  const guest = await engine.createContainer({
    Image: await testImage(),
    Cmd: ['sleep', '600'],
    HostConfig: { NetworkMode: network?.Name },
  });
  t.teardown(() => guest.remove({ force: true }));
  await guest.start();
  await build.environment.cleanUp();
  t.deepEqual(await networksOf(engine, runnerId), []);
  t.true((await guest.inspect()).State.Running);
});

dockerTest('builds use one network one after the other, and others at the same time', async (t, engine) => {
  const executor = await someExecutor(t, 'pool');
  const networks = () => networksOf(engine, `pool-${process.pid}`);
  const names = async () => (await networks()).map(({ Name }) => Name);
  const first = await executor.prepare(prepareRequest({}));
  const [used] = await names();
  await first.cleanUp();
  t.deepEqual(await names(), [used]);
  // As after a restart of this very process, whose own networks are none of its leftovers.
  await executor.removeLeftovers(new Set());
  const builds = await Promise.all([1, 2, 3].map(() => executor.prepare(prepareRequest({}))));
  t.true((await names()).includes(used ?? ''));
  t.is((await names()).length, 3);
  await Promise.all(builds.map((build) => build.cleanUp()));
  t.is((await names()).length, 2);
  await executor.close();
  t.deepEqual(await names(), []);
});

dockerTest('a network that is gone is made anew', async (t, engine) => {
  const executor = await someExecutor(t, 'gone');
  await (await executor.prepare(prepareRequest({}))).cleanUp();
  const [network] = await networksOf(engine, `gone-${process.pid}`);
  await engine.getNetwork(network?.Id ?? '').remove();
  const build = await executor.prepare(prepareRequest({}));
  const run = { kind: 'script', script: 'exit 3', output: async () => {} } as const;
  t.is((await build.run({ ...run, signal: new AbortController().signal })).exitCode, 3);
  await build.cleanUp();
});

async function someExecutor(t: ExecutionContext, name: string): Promise<Executor> {
  const options = DockerOptions.parse({ image: await testImage(), pull_policy: 'never' });
  const executor = createDockerExecutor(options, `${name}-${process.pid}`);
  t.teardown(() => executor.close());
  return executor;
}

// Using up the ranges of the engine would break every other build on it, so its answers are given here.
for (const [status, message] of [
  [404, 'could not find an available, non-overlapping IPv4 address pool among the defaults to assign to it'],
  [400, 'all predefined address pools have been fully subnetted'],
] as const) {
  test(`an engine without an address range (${status}) is a system failure that says what to do`, (t) => {
    const refusal = Object.assign(new Error(message), { statusCode: status, json: { message } });
    const error = networkError(connectEngine('/engine.sock'), refusal);
    if (!(error instanceof ExecutorError)) return t.fail();
    t.is(error.kind, 'system');
    t.regex(error.message, /no address range left.*fewer builds.*default-address-pools.*network_mode/);
    t.true(error.message.includes(message));
  });
}

async function networksOf(engine: Docker, runnerId: string): Promise<Docker.NetworkInspectInfo[]> {
  return await engine.listNetworks({ filters: { label: [`hearth.runner=${runnerId}`] } });
}
