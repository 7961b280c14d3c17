import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { superviseEmbeddedPostgres, supervisorTiming } from '../../server/postgres/supervisor.ts';
import { EmbeddedDatabase, rowsOf } from '../support/embedded-database.ts';
import type { Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { poll } from '../support/program.ts';
import { partsOf, SteadyRunner } from '../support/steady-runner.ts';
import { StubbornClient } from '../support/stubborn-client.ts';
import { withHearth } from '../support/with-hearth.ts';

const jobCount = 40;
/** PostgreSQL is killed when so many builds have ended. */
const kills = [5, 20];

const trees = withWorkTrees();
const hearths = withHearth();

/** The database of a server, from outside. */
interface Database {
  kill(): Promise<void>;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
}

interface Scene {
  hearth: Hearth;
  forge: Forge;
  database: Database;
  project: Project;
  client: StubbornClient;
  runners: SteadyRunner[];
  /** Names of the projects that were made while PostgreSQL came and went. */
  made: string[];
  isOver: boolean;
}

test.serial('the embedded PostgreSQL is killed under load: nothing acknowledged is lost', async (t) => {
  const hearth = await hearths.start();
  await surviveLosses(t, hearth, new EmbeddedDatabase(hearth));
  t.is(
    hearth.server.stderr.match(/the database ended: PostgreSQL ended with SIGKILL/g)?.length,
    kills.length,
  );
  t.is(hearth.server.stderr.match(/the database is back/g)?.length, kills.length);
});

test.serial(
  'an external PostgreSQL is stopped and started under load: nothing acknowledged is lost',
  async (t) => {
    const dir = join(await hearths.folder(), 'postgres');
    // It stays away for longer than anything waits between two tries.
    const timing = { ...supervisorTiming, delay: { first: 6000, max: 6000 } };
    const log = { debug() {}, warn() {}, error() {} };
    const postgres = await superviseEmbeddedPostgres({ dir, durable: true, log, timing });
    hearths.later(() => postgres.stop());
    const hearth = await hearths.start({ settings: { DATABASE_URL: postgres.url } });
    await surviveLosses(t, hearth, {
      rows: (text, values) => rowsOf({ connectionString: postgres.url }, text, values),
      kill: async () => void process.kill(postgres.pid, 'SIGINT'),
    });
  },
);

test.serial(
  'a server whose PostgreSQL cannot be brought back says so, and stops when it is told to',
  async (t) => {
    const hearth = await hearths.start();
    const control = join(hearth.dataDir, 'postgres', 'cluster', 'global', 'pg_control');
    await rename(control, `${control}.away`);
    await new EmbeddedDatabase(hearth).kill();
    const hasSaid = () => hearth.server.stderr.includes('pg_control') || null;
    await poll('word of what is wrong', 30_000, async () => hasSaid());
    for (const [path, status] of [
      ['/healthz', 200],
      ['/readyz', 503],
      ['/api/v3/user', 401],
      ['/api/v3/user?private_token=x', 503],
    ] as const) {
      t.is((await fetch(`${hearth.url}${path}`)).status, status, path);
    }
    t.is(await hearth.server.stop(), 0);
  },
);

/** Builds and projects go on while the database goes away twice; in the end all of it is right. */
async function surviveLosses(t: ExecutionContext, hearth: Hearth, database: Database): Promise<void> {
  const at = await scene(hearth, database);
  const load = [...at.runners.map((runner) => runner.work(() => at.isOver)), makeProjects(at), read(at)];
  try {
    for (const count of kills) {
      await endedBuilds(at, count);
      const { refusals } = at.client;
      await at.database.kill();
      await poll('answer that says so', 30_000, async () => at.client.refusals > refusals || null);
      await isReady(at.hearth);
    }
    await endedBuilds(at, jobCount, () => freeLostClaims(at));
  } finally {
    at.isOver = true;
    await Promise.all(load);
  }
  t.deepEqual(at.client.faults, []);
  await assertBuilds(t, at);
  await assertProjects(t, at);
  t.is(at.hearth.server.child.exitCode, null);
}

async function scene(hearth: Hearth, database: Database): Promise<Scene> {
  const forge = await hearth.forge();
  const project = await forge.createProject('loaded');
  const client = new StubbornClient(hearth.url);
  const runners: SteadyRunner[] = [];
  for (const description of ['one', 'two', 'three', 'four']) {
    const body = new URLSearchParams({ token: project.runners_token, description });
    const answer = await client.send([201], '/ci/api/v1/runners/register', { method: 'POST', body });
    runners.push(new SteadyRunner(client, JSON.parse(answer.body).token));
  }
  const tree = await trees.fresh();
  const jobs = Array.from({ length: jobCount }, (_, index) => `job ${index}: { script: ["true"] }`);
  await tree.commit({ '.gitlab-ci.yml': jobs.join('\n') });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  return { hearth, forge, database, project, client, runners, made: [], isOver: false };
}

async function makeProjects(at: Scene): Promise<void> {
  const { client, forge, made } = at;
  for (let index = 0; !at.isOver; index += 1) {
    const name = `made-${index}`;
    const request = {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': forge.token },
      body: new URLSearchParams({ name }),
    };
    const answer = await client.send([201, 400], '/api/v3/projects', request);
    // The one before was carried out, and only its answer was lost.
    const isTaken =
      answer.status === 400 && answer.failures > 0 && answer.body.includes('already been taken');
    if (answer.status === 201 || isTaken) made.push(name);
    else client.faults.push(`project ${name}: ${answer.status} ${answer.body}`);
    await wait(50);
  }
}

async function read(at: Scene): Promise<void> {
  const { client, forge, project } = at;
  const headers = { 'PRIVATE-TOKEN': forge.token };
  while (!at.isOver) {
    await client.send([200], `/api/v3/projects/${project.id}/builds?per_page=100`, { headers });
    await client.send([200], '/healthz', {});
    await wait(20);
  }
}

function endedBuilds(at: Scene, count: number, meanwhile?: () => Promise<void>): Promise<true> {
  const headers = { 'PRIVATE-TOKEN': at.forge.token };
  const path = `/api/v3/projects/${at.project.id}/builds?scope=success&per_page=100`;
  return poll(`end of ${count} builds`, 150_000, async () => {
    if (at.client.faults.length > 0) throw new Error(at.client.faults.join('\n'));
    await meanwhile?.();
    const answer = await at.client.send([200], path, { headers });
    return JSON.parse(answer.body).length >= count || null;
  });
}

function isReady({ url }: Hearth): Promise<true> {
  return poll('database that is back', 60_000, async () => {
    const answer = await fetch(`${url}/readyz`);
    await answer.text();
    return answer.status === 200 || null;
  });
}

/** A build whose claim was lost is replaced after some minutes, which are not waited for here. */
async function freeLostClaims({ database }: Scene): Promise<void> {
  await database.rows(`update working_servers set serving_since = now() - interval '1 hour'`);
  const lost = await database.rows<{ id: number }>(
    `update builds set started_at = now() - interval '1 hour' from traces t
     where t.build_id = id and t.length = 0 and status = 'running' and started_at < now() - interval '10 seconds'
     returning id`,
  );
  for (const { id } of lost) {
    await database.rows(`update traces set touched_at = now() - interval '2 hours' where build_id = $1`, [
      id,
    ]);
  }
}

async function assertBuilds(t: ExecutionContext, { forge, project, runners }: Scene): Promise<void> {
  const all = await forge.builds(project);
  const claimed = runners.flatMap((runner) => runner.claimed).sort((a, b) => a - b);
  // One that no runner was told of has failed, and another stands in for it.
  const builds = all.filter(({ id, status }) => status !== 'failed' || claimed.includes(id));
  t.deepEqual(
    builds.map(({ status }) => status),
    builds.map(() => 'success'),
  );
  t.is(new Set(builds.map(({ name }) => name)).size, new Set(all.map(({ name }) => name)).size);
  t.deepEqual(
    claimed,
    builds.map(({ id }) => id),
    'each was handed out once',
  );
  for (const build of builds) {
    t.is(await forge.trace(project, build), Buffer.concat(partsOf(build)).toString(), build.name);
  }
}

async function assertProjects(t: ExecutionContext, { forge, made }: Scene): Promise<void> {
  t.true(made.length > 0);
  for (const name of made) {
    t.like(await forge.get(`/projects/root%2F${name}`), { name });
  }
}
