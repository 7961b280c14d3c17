import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type Docker from 'dockerode';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../server/postgres/embedded.ts';
import { dockerTest, serviceImage, testImage } from '../support/docker.ts';
import type { Build, Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { poll, processesAbout } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

/** Milliseconds from the restart of a runner to the end of its builds; a promise to users, not a measurement. */
const promised = 60_000;

const silent = { debug() {}, warn() {}, error() {} };
const trees = withWorkTrees();
const hearths = withHearth();
let postgres: EmbeddedPostgres;
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  const folder = await hearths.folder();
  postgres = await startEmbeddedPostgres({ dir: join(folder, 'postgres'), durable: false, log: silent });
  hearths.later(() => postgres.stop());
  hearth = await hearths.start({ folder, settings: { DATABASE_URL: postgres.url } });
  forge = await hearth.forge();
});

dockerTest(
  'after a restart nothing is left in Docker of the builds of a killed runner',
  async (t, engine) => {
    const image = await testImage();
    const { project, build } = await killedWhileItRuns(t, {
      name: 'docker',
      options: ['--executor', 'docker', '--image', image, '--pull-policy', 'never'],
      job: { services: [await serviceImage()], script: ['echo waiting', 'sleep 600'] },
    });
    const label = `hearth.runner=${await shortToken('docker')}`;
    t.teardown(() => removeAll(engine, label));
    t.deepEqual(await countOf(engine, label), { containers: 3, networks: 1, volumes: 1 });
    t.is((await forge.build(project, build.id)).status, 'running');

    hearth.startRunner({ name: 'docker' });
    await failsWith(t, { project, build }, /the runner was restarted while the job ran/);
    await poll('empty engine', promised, async () => {
      const { containers, networks, volumes } = await countOf(engine, label);
      return containers + networks + volumes === 0 || null;
    });
  },
);

test('after a restart no process is left of the builds of a killed runner', async (t) => {
  const mark = `mark-${process.pid}`;
  const { project, build } = await killedWhileItRuns(t, {
    name: 'shell',
    options: ['--executor', 'shell'],
    job: {
      script: [
        // Neither a session of its own nor an empty environment is a way out.
        `setsid sh -c 'sleep 600; : ${mark}' &`,
        `env -i sh -c 'sleep 600; : ${mark}' &`,
        'echo waiting',
        `sh -c 'trap "" TERM; while :; do sleep 1; done; : ${mark}'`,
      ],
    },
  });
  t.true((await processesAbout(mark)).length >= 3);

  hearth.startRunner({ name: 'shell' });
  await failsWith(t, { project, build }, /the runner was restarted while the job ran/);
  await poll('end of the processes', promised, async () => {
    return (await processesAbout(mark)).length === 0 || null;
  });
});

test('without a restart the server ends the builds of a killed runner', async (t) => {
  const { project, build } = await killedWhileItRuns(t, {
    name: 'lost',
    options: ['--executor', 'shell'],
    job: { script: ['echo waiting', 'sleep 600'] },
  });
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  t.teardown(() => database.end());
  await sweep(database);
  t.is((await forge.build(project, build.id)).status, 'running');

  await age(database, build);
  await sweep(database);
  await failsWith(t, { project, build }, /the runner is gone/);
  // Its processes live on until a runner comes back.
  hearth.startRunner({ name: 'lost' });
  await poll('end of the processes', promised, async () => {
    const found = await processesAbout(`HEARTH_JOB=${await shortToken('lost')}/${build.id}`);
    return found.length === 0 || null;
  });
  t.is((await forge.build(project, build.id)).status, 'failed');
});

interface Kill {
  /** Of the project and of its runner. */
  name: string;
  options: string[];
  /** Says "waiting" when the time has come. */
  job: object;
}

interface Killed {
  project: Project;
  build: Build;
}

/** Runs a job and kills its runner as soon as the commands of the job run. */
async function killedWhileItRuns(t: ExecutionContext, { name, options, job }: Kill): Promise<Killed> {
  const project = await forge.createProject(name);
  await hearth.addRunner({ name, token: project.runners_token, options });
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': JSON.stringify({ job }) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  const build = await poll('running job', promised, async () => {
    const [found] = await forge.builds(project);
    return found && (await forge.trace(project, found)).includes('\nwaiting\n') ? found : null;
  });
  await hearth.killRunner(name);
  t.is(build.status, 'running');
  return { project, build };
}

async function failsWith(t: ExecutionContext, { project, build }: Killed, cause: RegExp): Promise<void> {
  await poll('end of the build', promised, async () => {
    return (await forge.build(project, build.id)).status === 'failed' || null;
  });
  const trace = await forge.trace(project, build);
  t.regex(trace, /\nwaiting\n/);
  t.regex(trace, cause);
}

/** As if a build had been heard of for the last time a quarter of an hour ago, its runner likewise, by this very server. */
async function age(database: pg.Client, { id, runner }: Build): Promise<void> {
  const past = `now() - interval '16 minutes'`;
  await database.query(`update runners set contacted_at = ${past} where id = $1`, [runner?.id]);
  await database.query(`update traces set touched_at = ${past} where build_id = $1`, [id]);
  await database.query(`update builds set started_at = ${past} where id = $1`, [id]);
  await database.query(`update working_servers set serving_since = ${past}`);
}

/** Lets the server look for lost builds now, and waits until it has. */
async function sweep(database: pg.Client): Promise<void> {
  await database.query(`select graphile_worker.add_job('end_lost_builds', job_key := 'now')`);
  await poll('end of the sweep', promised, async () => {
    const { rows } = await database.query(`select from graphile_worker.jobs where key = 'now'`);
    return rows.length === 0 || null;
  });
}

async function shortToken(runner: string): Promise<string> {
  return (await hearth.runnerToken(runner)).slice(0, 8);
}

interface Objects {
  containers: { Id: string }[];
  networks: { Id: string }[];
  volumes: { Name: string }[];
}

async function objectsOf(engine: Docker, label: string): Promise<Objects> {
  const filters = { label: [label] };
  const [containers, networks, { Volumes: volumes }] = await Promise.all([
    engine.listContainers({ all: true, filters }),
    engine.listNetworks({ filters }),
    engine.listVolumes({ filters }),
  ]);
  return { containers, networks, volumes: volumes ?? [] };
}

async function countOf(engine: Docker, label: string) {
  const { containers, networks, volumes } = await objectsOf(engine, label);
  return { containers: containers.length, networks: networks.length, volumes: volumes.length };
}

/** Where the runner has failed to. */
async function removeAll(engine: Docker, label: string): Promise<void> {
  const { containers, networks, volumes } = await objectsOf(engine, label);
  for (const { Id } of containers) await engine.getContainer(Id).remove({ force: true });
  for (const { Id } of networks) await engine.getNetwork(Id).remove();
  for (const { Name } of volumes) await engine.getVolume(Name).remove();
}
