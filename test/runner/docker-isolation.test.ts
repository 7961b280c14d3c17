import { testImage } from '../support/docker.ts';
import { dockerBuild } from '../support/docker-build.ts';
import { ownEngineTest } from '../support/docker-own-engine.ts';

// On an engine of its own: whenever a network is made, old engines take away for a moment what keeps the others apart.
ownEngineTest('no container of another build can be reached', async (t, engine) => {
  await engine.takeImage(await testImage());
  const docker = { host: engine.socket };
  const build = await dockerBuild(t, { docker, hasNetwork: true });
  const other = await dockerBuild(t, { docker, hasNetwork: true });
  const running = other.run('nc -l -p 5000 -e echo & echo ready; wait', { onOutput: () => started() });
  let started = () => {};
  await new Promise<void>((resolve) => {
    started = resolve;
  });
  const [container] = await engine.docker.listContainers({
    filters: { label: [`hearth.build=${other.id}`, 'hearth.role=build'] },
  });
  const address = Object.values(container?.NetworkSettings.Networks ?? {})[0]?.IPAddress;
  t.truthy(address);
  const result = await build.run(`nc -w 2 ${address} 5000 </dev/null`);
  t.not(result.exitCode, 0);
  // Not by a clean-up, which is for builds whose script has come to its end.
  await engine.docker.getContainer(container?.Id ?? '').kill();
  t.is((await running).exitCode, 137);
});
