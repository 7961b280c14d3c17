import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { dockerTest, testImage } from '../support/docker.ts';
import type { Build, Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { poll, processesAbout } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

/** Milliseconds from the cancel to the end of everything that runs; a promise to users, not a measurement. */
const promised = 5000;
/** What a job gets that does not listen to TERM: 10 seconds, and the time to notice the cancel. */
const grace = 20_000;

const trees = withWorkTrees();
const hearths = withHearth();
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  hearth = await hearths.start();
  forge = await hearth.forge();
});

test('a cancelled build ends in the shell, for good', async (t) => {
  const flag = join(await trees.folder(), 'go');
  const scenario = { name: 'shell', options: ['--executor', 'shell'], flag, flagInJob: flag };
  await cancelAndRetry(t, scenario, async (build) => {
    const processes = await processesAbout(markOf('shell', build));
    return processes.length > 0;
  });
});

dockerTest('a cancelled build ends in its container, for good', async (t, engine) => {
  const folder = await trees.folder();
  const options = ['--executor', 'docker', '--image', await testImage(), '--pull-policy', 'never'];
  const scenario = {
    name: 'docker',
    options: [...options, '--volumes', `${folder}:/flag`],
    flag: join(folder, 'go'),
    flagInJob: '/flag/go',
  };
  await cancelAndRetry(t, scenario, async (build) => {
    const runner = (await hearth.runnerToken('docker')).slice(0, 8);
    const filters = { label: [`hearth.runner=${runner}`, `hearth.build=${build.id}`] };
    return (await engine.listContainers({ all: true, filters })).length > 0;
  });
});

interface Scenario {
  /** Of the project and of its runner. */
  name: string;
  options: string[];
  /** Jobs wait for this file. */
  flag: string;
  flagInJob: string;
}

async function cancelAndRetry(
  t: ExecutionContext,
  { name, options, flag, flagInJob }: Scenario,
  isThere: (build: Build) => Promise<boolean>,
): Promise<void> {
  const project = await forge.createProject(name);
  await hearth.addRunner({ name, token: project.runners_token, options, concurrent: 2 });
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': pipeline(name, flagInJob) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  const [calm, stubborn] = await waiting(project);
  t.true(await isThere(calm));
  t.true(await isThere(stubborn));

  t.is((await cancel(project, calm)).status, 'canceled');
  await poll('end of the calm job', promised, async () => !(await isThere(calm)) || null);
  t.is((await cancel(project, stubborn)).status, 'canceled');
  for (const build of [calm, stubborn]) {
    t.is(await reportSuccess(name, build), 404);
    t.is((await forge.build(project, build.id)).status, 'canceled');
  }
  await poll('end of the stubborn job', grace, async () => !(await isThere(stubborn)) || null);

  await writeFile(flag, '');
  for (const build of [calm, stubborn]) {
    await forge.post(`/projects/${project.id}/builds/${build.id}/retry`);
  }
  const builds = await forge.ended(project, 5);
  t.deepEqual(
    builds.map((build) => `${build.name} ${build.status}`),
    ['calm canceled', 'stubborn canceled', 'calm success', 'stubborn success', 'next success'],
  );
}

/** The two builds of the first stage, once their commands run. */
function waiting(project: Project): Promise<[Build, Build]> {
  return poll('waiting builds', 60_000, async () => {
    const [calm, stubborn] = await forge.builds(project);
    if (!calm || !stubborn) return null;
    const traces = await Promise.all([calm, stubborn].map((build) => forge.trace(project, build)));
    return traces.every((trace) => trace.includes('\nwaiting\n')) ? [calm, stubborn] : null;
  });
}

function cancel(project: Project, { id }: Build): Promise<Build> {
  return forge.post(`/projects/${project.id}/builds/${id}/cancel`);
}

/** What a runner would say that has not heard of the cancel. */
async function reportSuccess(runner: string, { id }: Build): Promise<number> {
  const body = new URLSearchParams({ token: await hearth.runnerToken(runner), state: 'success' });
  return (await fetch(`${hearth.url}/ci/api/v1/builds/${id}`, { method: 'PUT', body })).status;
}

/** Stands in the environment of a job's processes. */
function markOf(project: string, { name }: Pick<Build, 'name'>): string {
  return `MARK=${project}-${name}-${process.pid}`;
}

function pipeline(name: string, flag: string): string {
  const job = (job: string, trap: string) => `
${job}:
  stage: first
  variables: { FLAG: "${flag}", MARK: "${markOf(name, { name: job }).replace('MARK=', '')}" }
  script:
    - sh -c '${trap} echo waiting; until [ -e "$FLAG" ]; do sleep 1; done'
`;
  return `
stages: [first, second]
${job('calm', '')}
${job('stubborn', 'trap "" TERM;')}
next:
  stage: second
  script: ["true"]
`;
}
