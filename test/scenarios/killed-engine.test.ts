import test, { type ExecutionContext } from 'ava';
import { serviceImage, testImage } from '../support/docker.ts';
import { type OwnEngine, ownEngineTest } from '../support/docker-own-engine.ts';
import type { Build, Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { poll } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

/** Milliseconds; the runner asks the engine again after a minute at the latest. */
const patience = 150_000;

const trees = withWorkTrees();
const hearths = withHearth();
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  hearth = await hearths.start();
  forge = await hearth.forge();
});

ownEngineTest(
  'builds under a killed engine fail with that cause, and the next ones run',
  async (t, engine) => {
    const images = await Promise.all([testImage(), serviceImage()]);
    for (const image of images) await engine.takeImage(image);
    const [image, service] = images;
    const project = await forge.createProject('engine');
    const options = ['--executor', 'docker', '--docker-host', engine.socket, '--image', image];
    await hearth.addRunner({
      name: 'engine',
      token: project.runners_token,
      options: [...options, '--pull-policy', 'never'],
      concurrent: 2,
    });
    await push(project, {
      plain: { script: ['echo waiting', 'sleep 600'] },
      served: { services: [service], script: ['echo waiting', 'sleep 600'] },
    });
    const builds = await waiting(project, 2);
    await engine.kill();
    await failFor(t, project, builds);
    await engine.start();
    await forge.post(`/projects/${project.id}/builds/${builds[0]?.id}/retry`);
    await forge.post(`/projects/${project.id}/builds/${builds[1]?.id}/retry`);

    const again = await waiting(project, 2);
    await engine.killAll();
    await failFor(t, project, again);
    await push(project, {
      job: { services: [service], script: ['echo done'] },
    });
    await engine.start();
    const last = await poll('success after the restarts', patience, async () => {
      const found = (await forge.builds(project)).find(({ name }) => name === 'job');
      return found?.status === 'success' ? found : null;
    });
    t.regex(await forge.trace(project, last), /\ndone\n/);
    t.is((await forge.builds(project)).length, 5);
    await poll('end of what dead builds left', patience, async () => {
      const { containers, networks, volumes } = await countOf(engine);
      return (containers + volumes === 0 && networks <= 1) || null;
    });
    // The network that it keeps for the next build goes with it.
    await hearth.runners.get('engine')?.stop();
    t.deepEqual(await countOf(engine), { containers: 0, networks: 0, volumes: 0 });
  },
);

/** To a new branch. */
async function push(project: Project, jobs: object): Promise<void> {
  const tree = await trees.fresh();
  const sha = await tree.commit({ '.gitlab-ci.yml': JSON.stringify(jobs) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), `master:refs/heads/jobs-${sha}`);
}

/** The builds that run, once there are so many and their commands run. */
function waiting(project: Project, count: number): Promise<Build[]> {
  return poll(`${count} running jobs`, patience, async () => {
    const builds = (await forge.builds(project)).filter(({ status }) => status === 'running');
    const traces = await Promise.all(builds.map((build) => forge.trace(project, build)));
    const isReady = traces.length === count && traces.every((trace) => trace.includes('\nwaiting\n'));
    return isReady ? builds : null;
  });
}

async function failFor(t: ExecutionContext, project: Project, builds: Build[]): Promise<void> {
  for (const { id } of builds) {
    const build = await poll('end of a build under a dead engine', patience, async () => {
      const found = await forge.build(project, id);
      return found.status === 'running' ? null : found;
    });
    t.is(build.status, 'failed');
    const trace = await forge.trace(project, build);
    t.regex(trace, /system failure\): The Docker engine at \S+ does not answer/);
  }
}

async function countOf({ docker }: OwnEngine) {
  const filters = { label: ['hearth.runner'] };
  const [containers, networks, { Volumes: volumes }] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
  ]);
  return { containers: containers.length, networks: networks.length, volumes: (volumes ?? []).length };
}
