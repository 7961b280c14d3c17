import { ExecutorError } from '../../runner/executor/executor-error.ts';
import { derivedImage, dockerTest, serviceImage, stuckServiceImage, testImage } from '../support/docker.ts';
import { dockerBuild } from '../support/docker-build.ts';
import { engineProxy } from '../support/docker-proxy.ts';

dockerTest('a service is reached by both of its host names as soon as the script starts', async (t) => {
  const build = await dockerBuild(t, { options: { services: [await serviceImage()] } });
  const result = await build.run(
    'for host in hearth-test__service hearth-test-service; do wget -qO- $host:8080; done',
  );
  t.is(result.output, 'hello from the service\n'.repeat(2));
  t.deepEqual(build.warnings, []);
});

dockerTest('services of the runner come before those of the job and reach each other', async (t) => {
  const [runner, job] = [await serviceImage(), await stuckServiceImage()];
  const docker = { services: [runner], wait_for_services_timeout: 0 };
  const build = await dockerBuild(t, { docker, options: { services: [job] } });
  t.is(
    (await build.run('wget -qO- hearth-test-service:8080; nslookup hearth-test-stuck >/dev/null')).exitCode,
    0,
  );
});

dockerTest('a service gets the public variables only', async (t, engine) => {
  const variables = [
    { key: 'SHOWN', value: '1', public: true },
    { key: 'HIDDEN', value: '2', public: false },
  ];
  const build = await dockerBuild(t, { variables, options: { services: [await serviceImage()] } });
  const label = [`hearth.build=${build.id}`, 'hearth.role=service-0'];
  const [container] = await engine.listContainers({ filters: { label } });
  const { Config: config, Mounts: mounts } = await engine.getContainer(container?.Id ?? '').inspect();
  t.deepEqual(
    config.Env.filter((entry) => !entry.startsWith('PATH=')),
    ['SHOWN=1'],
  );
  // The volume with the scripts, which set all variables, is not among them.
  t.deepEqual(
    mounts.map((mount) => mount.Destination),
    ['/builds'],
  );
});

dockerTest(
  'a service that never opens its port gets a warning with its log, and the job goes on',
  async (t) => {
    const docker = { wait_for_services_timeout: 1 };
    const build = await dockerBuild(t, { docker, options: { services: [await stuckServiceImage()] } });
    t.is(build.warnings.length, 1);
    t.regex(build.warnings[0] ?? '', /did not open its port in time(.|\n)*service is stuck/);
    t.is((await build.run('true')).exitCode, 0);
  },
);

dockerTest('a service that exposes no port gets a warning at once', async (t) => {
  const image = await derivedImage('hearth-test/portless', ['CMD ["sleep", "600"]']);
  const build = await dockerBuild(t, { options: { services: [image] } });
  t.regex(build.warnings.join('\n'), /exposes no port/);
});

/** Serves on port 8080 without exposing it. */
function unexposedImage(): Promise<string> {
  const command = ['httpd', '-f', '-p', '8080', '-h', '/www'];
  return derivedImage('hearth-test/unexposed', [`CMD ${JSON.stringify(command)}`]);
}

dockerTest('HEALTHCHECK_TCP_PORT names the port that tells when a service is ready', async (t) => {
  const variables = [{ key: 'HEALTHCHECK_TCP_PORT', value: '8080', public: true }];
  const build = await dockerBuild(t, { variables, options: { services: [await unexposedImage()] } });
  t.deepEqual(build.warnings, []);
  t.is((await build.run('wget -qO- hearth-test-unexposed:8080')).output, 'hello from the service\n');
});

dockerTest('a port that nobody opens is waited for in vain, whatever else is open', async (t) => {
  const variables = [{ key: 'HEALTHCHECK_TCP_PORT', value: '9', public: true }];
  const docker = { wait_for_services_timeout: 1 };
  const build = await dockerBuild(t, { docker, variables, options: { services: [await serviceImage()] } });
  t.regex(build.warnings.join('\n'), /did not open its port in time/);
});

for (const value of ['http', '65536']) {
  dockerTest(`"${value}" is no port: a warning, and the exposed ones are tried`, async (t) => {
    const variables = [{ key: 'HEALTHCHECK_TCP_PORT', value, public: true }];
    const build = await dockerBuild(t, { variables, options: { services: [await serviceImage()] } });
    t.deepEqual(build.warnings, [
      `HEALTHCHECK_TCP_PORT must be the number of a port, not "${value}"; it is ignored`,
    ]);
  });
}

dockerTest('a service that ends gets a warning with its log at once', async (t) => {
  const image = await derivedImage('hearth-test/brief', ['EXPOSE 9/tcp', 'CMD ["echo", "no settings"]']);
  const build = await dockerBuild(t, { options: { services: [image] } });
  t.regex(build.warnings.join('\n'), /has ended(.|\n)*no settings/);
});

dockerTest('a service that cannot be started is the fault of the job', async (t) => {
  const setup = { options: { services: [await testImage()] } };
  const error = await t.throwsAsync(dockerBuild(t, setup), { instanceOf: ExecutorError });
  t.is(error?.kind, 'user');
});

dockerTest('the second service of a name is not started', async (t, engine) => {
  const service = await serviceImage();
  const build = await dockerBuild(t, { options: { services: [service, service.replace(/:.*/, ':other')] } });
  t.regex(build.warnings.join('\n'), /other is not started/);
  const containers = await engine.listContainers({ filters: { label: [`hearth.build=${build.id}`] } });
  const roles = containers.map((container) => container.Labels['hearth.role']);
  t.deepEqual(
    roles.filter((role) => role !== 'build'),
    ['service-0'],
  );
});

dockerTest('a service of an engine elsewhere is checked from a container there', async (t) => {
  const proxy = await engineProxy();
  t.teardown(() => proxy.close());
  const docker = { host: proxy.address };
  const ready = await dockerBuild(t, { docker, options: { services: [await serviceImage()] } });
  t.deepEqual(ready.warnings, []);
  const options = { services: [await stuckServiceImage()] };
  const stuck = await dockerBuild(t, { docker: { ...docker, wait_for_services_timeout: 2 }, options });
  t.regex(stuck.warnings.join('\n'), /did not open its port in time/);
});

dockerTest('everything of a build is gone after the clean-up, which may run twice', async (t, engine) => {
  const build = await dockerBuild(t, { options: { services: [await serviceImage()] } });
  await build.run('true');
  await build.environment.cleanUp();
  await build.environment.cleanUp();
  const filters = { label: [`hearth.build=${build.id}`] };
  t.deepEqual(await engine.listContainers({ all: true, filters }), []);
  t.deepEqual(await engine.listNetworks({ filters }), []);
  t.deepEqual((await engine.listVolumes({ filters })).Volumes ?? [], []);
});
