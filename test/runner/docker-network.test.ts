import test from 'ava';
import type Docker from 'dockerode';
import { connectEngine } from '../../runner/executor/docker/engine.ts';
import { networkError } from '../../runner/executor/docker/network.ts';
import { ExecutorError } from '../../runner/executor/executor-error.ts';
import { dockerTest, testImage } from '../support/docker.ts';
import { dockerBuild } from '../support/docker-build.ts';

dockerTest('the network of a build is a bridge that says whose it is', async (t, engine) => {
  const build = await dockerBuild(t, { runnerId: `network-${process.pid}` });
  const networks = await networksOf(engine, build.id);
  t.is(networks.length, 1);
  t.like(networks[0], {
    Driver: 'bridge',
    Labels: {
      'hearth.runner': `network-${process.pid}`,
      'hearth.role': 'network',
      'hearth.build': String(build.id),
      'hearth.project': '7',
    },
  });
  const filters = { label: [`hearth.build=${build.id}`, 'hearth.role=build'] };
  const [container] = await engine.listContainers({ all: true, filters });
  t.deepEqual(Object.keys(container?.NetworkSettings.Networks ?? {}), [networks[0]?.Name]);
});

dockerTest('no container of another build can be reached', async (t, engine) => {
  const build = await dockerBuild(t);
  const other = await dockerBuild(t);
  const running = other.run('nc -l -p 5000 -e echo & echo ready; wait', { onOutput: () => started() });
  let started = () => {};
  await new Promise<void>((resolve) => {
    started = resolve;
  });
  const [container] = await engine.listContainers({
    filters: { label: [`hearth.build=${other.id}`, 'hearth.role=build'] },
  });
  const address = Object.values(container?.NetworkSettings.Networks ?? {})[0]?.IPAddress;
  t.truthy(address);
  const result = await build.run(`nc -w 2 ${address} 5000 </dev/null`);
  t.not(result.exitCode, 0);
  // Not by a clean-up, which is for builds whose script has come to its end.
  await engine.getContainer(container?.Id ?? '').kill();
  t.is((await running).exitCode, 137);
});

dockerTest('a network mode of the configuration takes the place of the network', async (t, engine) => {
  const build = await dockerBuild(t, { docker: { network_mode: 'none' } });
  t.deepEqual(await networksOf(engine, build.id), []);
  t.is((await build.run('ls /sys/class/net')).output.trim(), 'lo');
});

dockerTest('a container of somebody else does not keep the network, and stays', async (t, engine) => {
  const build = await dockerBuild(t);
  const [network] = await networksOf(engine, build.id);
  const guest = await engine.createContainer({
    Image: await testImage(),
    Cmd: ['sleep', '600'],
    HostConfig: { NetworkMode: network?.Name },
  });
  t.teardown(() => guest.remove({ force: true }));
  await guest.start();
  await build.environment.cleanUp();
  t.deepEqual(await networksOf(engine, build.id), []);
  t.true((await guest.inspect()).State.Running);
});

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

async function networksOf(engine: Docker, buildId: number): Promise<Docker.NetworkInspectInfo[]> {
  return await engine.listNetworks({ filters: { label: [`hearth.build=${buildId}`] } });
}
