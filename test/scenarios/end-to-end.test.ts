import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type Docker from 'dockerode';
import { dockerEngine, serviceImage, testImage } from '../support/docker.ts';
import type { Build, Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import { copyOfProgram, type Hearth } from '../support/hearth.ts';
import { poll, processesAbout } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';
import { unzip } from '../support/zip.ts';
import { greetingPipeline } from './greeting-pipeline.ts';

const trees = withWorkTrees();
const hearths = withHearth();
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  const folder = await hearths.folder();
  const root = join(folder, 'clone');
  await copyOfProgram(root);
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'));
  const settings = { HEARTH_DEMO: undefined, HEARTH_BUNDLED_RUNNER: undefined };
  hearth = await hearths.start({ folder, root, settings });
  forge = await hearth.forge();
});

test.serial('the first start runs the example to its end and says what to do next', async (t) => {
  const [demo] = await forge.get<Project[]>('/projects');
  t.is(demo?.path_with_namespace, 'root/hello-ci');
  t.deepEqual(demo && states(await forge.builds(demo)), [
    'write greeting success',
    'check greeting success',
    'show greeting success',
  ]);
  const said = hearth.server.stdout;
  t.true(said.indexOf('Delivered by build 3') < said.indexOf('The pipeline of hello-ci succeeded.'));
  t.true(said.includes(`The password of root is in ${join(hearth.dataDir, 'root-password')}`));
});

const engine = await dockerEngine();
const dockerTest = engine ? test.serial : test.serial.skip;

dockerTest('a pipeline with a service runs in containers', async (t) => {
  const image = await testImage();
  const options = ['--executor', 'docker', '--image', image, '--pull-policy', 'never', '--tags', 'box'];
  const service = await serviceImage();
  const { unit, project } = await runPipeline(t, { name: 'in-docker', options, service });
  t.true((await forge.trace(project, unit)).includes('\nhello from the service\n'));
});

test.serial('a pipeline runs in a shell', async (t) => {
  await runPipeline(t, { name: 'in-shell', options: ['--executor', 'shell', '--tags', 'box'] });
});

test.serial('SIGTERM ends everything, builds that run too', async (t) => {
  const tree = await trees.fresh();
  const job = (tags: string) => `{ tags: [${tags}], script: [echo asleep, sleep 600] }`;
  await tree.commit({ '.gitlab-ci.yml': `anywhere: ${job('')}\nown: ${job('box')}\n` });
  for (const project of await forge.get<Project[]>('/projects?search=in-')) {
    await tree.git('push', '--quiet', forge.cloneUrl(project), 'master:asleep');
    await poll('sleeping builds', 30_000, async () => {
      const running = (await forge.builds(project)).filter(({ status }) => status === 'running');
      const traces = await Promise.all(running.map((build) => forge.trace(project, build)));
      return traces.filter((trace) => trace.includes('\nasleep\n')).length === 2 || null;
    });
  }
  const codes = await hearth.stop();
  t.deepEqual(
    codes,
    codes.map(() => 0),
  );
  t.deepEqual(await processesAbout(hearth.folder), []);
  if (engine) t.deepEqual(await madeBy(engine, await hearth.runnerToken('in-docker')), []);
});

/** Containers, networks and volumes that a runner made. */
async function madeBy(docker: Docker, token: string): Promise<unknown[]> {
  const filters = { label: [`hearth.runner=${token.slice(0, 8)}`] };
  const containers = await docker.listContainers({ all: true, filters });
  const { Volumes: volumes } = await docker.listVolumes({ filters });
  return [...containers, ...(await docker.listNetworks({ filters })), ...(volumes ?? [])];
}

interface Scenario {
  /** Of the project and of its runner. */
  name: string;
  options: string[];
  service?: string;
}

/** Pushes a repository whose jobs only a runner of its own takes, and looks at everything that comes of it. */
async function runPipeline(t: ExecutionContext, { name, options, service }: Scenario) {
  const project = await forge.createProject(name);
  const tree = await trees.fresh();
  const sha = await tree.commit(
    { '.gitlab-ci.yml': greetingPipeline(service), 'name.txt': 'Ada\n' },
    'Say hello',
  );
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  t.deepEqual(states(await forge.builds(project)), ['compile pending', 'lint pending']);
  await hearth.addRunner({ name, token: project.runners_token, options });

  const builds = await forge.ended(project, 4);
  t.deepEqual(states(builds), ['compile success', 'lint failed', 'unit success', 'deliver success']);
  t.deepEqual(new Set(builds.map(({ runner }) => runner?.description)), new Set([name]));
  const [compile, lint, unit, deliver] = builds as [Build, Build, Build, Build];
  await assertTraces(t, project, { compile, lint, unit, deliver });
  t.deepEqual(await unzip(await forge.artifacts(project, compile)), {
    'out/deep/greeting.txt': Buffer.from(`Hello, Ada, from ${sha} of master\n`),
    'out/empty.txt': Buffer.alloc(0),
  });
  t.is(deliver.artifacts_file, null);
  return { unit, project };
}

async function assertTraces(
  t: ExecutionContext,
  project: Project,
  builds: Record<'compile' | 'lint' | 'unit' | 'deliver', Build>,
) {
  const compile = await forge.trace(project, builds.compile);
  t.regex(compile, /\nbefore compile\n.*\nmy token is \[MASKED\]\n.*\nafter compile: success\n/s);
  t.regex(compile, /Job succeeded\S*\n$/);
  const lint = await forge.trace(project, builds.lint);
  t.regex(lint, /\nlinting\n.*\nafter lint: failed\n/s);
  t.regex(lint, /Job failed: exit code 3\S*\n$/);
  t.regex(await forge.trace(project, builds.unit), /\nof the job\n.*Job succeeded\S*\n$/s);
  const deliver = await forge.trace(project, builds.deliver);
  t.regex(deliver, /\nHello, Ada, from \w{40} of master\n.*\nno service out here\n/s);
}

function states(builds: Build[]): string[] {
  return builds.map(({ name, status }) => `${name} ${status}`);
}
