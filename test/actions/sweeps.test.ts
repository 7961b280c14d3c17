import { Readable } from 'node:stream';
import test from 'ava';
import { endLostBuilds } from '../../server/actions/end-lost-builds.ts';
import { expireArtifacts } from '../../server/actions/expire-artifacts.ts';
import { withApp } from '../support/app.ts';

const holder = withApp();

interface BuildState {
  status: string;
  failure_reason: string | null;
}

async function stateOf(id: number): Promise<BuildState | undefined> {
  const rows = await holder.app.rows<BuildState>('select status, failure_reason from builds where id = $1', [
    id,
  ]);
  return rows[0];
}

async function traceOf(project: { id: number; owner: { token: string } }, id: number): Promise<string> {
  const path = `/api/v3/projects/${project.id}/builds/${id}/trace`;
  return (await holder.app.call<string>('GET', path, { as: project.owner.token })).body;
}

/** A running build whose runner and trace were last heard of some minutes ago. */
async function silentBuild(minutes: { runner: number; trace: number; started?: number }) {
  const { app } = holder;
  const project = await app.make.project();
  const runner = await app.make.runner({ projects: [project] });
  const build = await app.make.build(project, { status: 'running', runner });
  await app.rows('update runners set contacted_at = now() - make_interval(mins => $2) where id = $1', [
    runner.id,
    minutes.runner,
  ]);
  await app.rows('update traces set touched_at = now() - make_interval(mins => $2) where build_id = $1', [
    build.id,
    minutes.trace,
  ]);
  await app.rows('update builds set started_at = now() - make_interval(mins => $2) where id = $1', [
    build.id,
    minutes.started ?? 30,
  ]);
  return { project, build };
}

test.serial('a build whose runner is gone fails, and its trace says why', async (t) => {
  const { project, build } = await silentBuild({ runner: 11, trace: 16 });
  await endLostBuilds(holder.app.work);
  t.deepEqual(await stateOf(build.id), { status: 'failed', failure_reason: 'runner_system_failure' });
  t.regex(await traceOf(project, build.id), /Job failed: the runner is gone/);
});

test.serial('a runner that still asks, or a trace that still grows, is a sign of life', async (t) => {
  const asking = await silentBuild({ runner: 1, trace: 20 });
  const growing = await silentBuild({ runner: 20, trace: 1 });
  await endLostBuilds(holder.app.work);
  t.is((await stateOf(asking.build.id))?.status, 'running');
  t.is((await stateOf(growing.build.id))?.status, 'running');
});

test.serial('a silence counts from when a server was there again to hear', async (t) => {
  const { app } = holder;
  const serving = 'insert into working_servers (id, serving_since) values (gen_random_uuid(), $1)';
  const since = (minutes: number) => [new Date(Date.now() - minutes * 60_000)];
  const { build } = await silentBuild({ runner: 40, trace: 40, started: 50 });
  await app.rows(serving, since(14));
  await endLostBuilds(app.work);
  t.is((await stateOf(build.id))?.status, 'running', 'the trace may still come');
  await app.rows(serving, since(16));
  await endLostBuilds(app.work);
  t.is((await stateOf(build.id))?.status, 'failed');
  await app.rows('delete from working_servers');
});

test.serial(
  'for a build that its runner never began another one waits, not for one that has begun',
  async (t) => {
    const { app } = holder;
    const lost = await silentBuild({ runner: 0, trace: 5, started: 4 });
    const begun = await silentBuild({ runner: 0, trace: 3, started: 4 });
    const young = await silentBuild({ runner: 0, trace: 5, started: 2 });
    await endLostBuilds(app.work);
    t.deepEqual(await stateOf(lost.build.id), { status: 'failed', failure_reason: 'runner_system_failure' });
    const next = await app.rows<{ id: number }>(
      `select b.id from builds b join pending_builds q on q.build_id = b.id
     where b.job_id = $1 and b.latest and b.status = 'pending'`,
      [lost.build.jobId],
    );
    t.is(next.length, 1);
    t.regex(
      await traceOf(lost.project, lost.build.id),
      new RegExp(`never began it; .* build ${next[0]?.id}\\b`),
    );
    t.is((await stateOf(begun.build.id))?.status, 'running');
    t.is((await stateOf(young.build.id))?.status, 'running');
  },
);

test.serial('a job whose builds nobody begins is given up', async (t) => {
  const { app } = holder;
  const { build, project } = await silentBuild({ runner: 0, trace: 5, started: 4 });
  const age = `with aged as (
    update builds set status = 'running', started_at = now() - interval '4 minutes', runner_id = $2
    where job_id = $1 and status = 'pending' returning id
  ), gone as (
    delete from pending_builds where build_id in (select id from aged)
  ) update traces set touched_at = now() - interval '5 minutes' where build_id in (select id from aged)`;
  const runner = await app.make.runner();
  for (let round = 0; round < 5; round += 1) {
    await endLostBuilds(app.work);
    await app.rows(age, [build.jobId, runner.id]);
  }
  const builds = await app.rows<{ id: number; status: string }>(
    'select id, status from builds where job_id = $1 order by id',
    [build.jobId],
  );
  t.deepEqual(
    builds.map(({ status }) => status),
    ['failed', 'failed', 'failed'],
  );
  t.true((await traceOf(project, builds[2]?.id ?? 0)).includes('its runner never began it\u001b'));
});

test.serial('a build beyond its time limit fails, whatever its runner does', async (t) => {
  const over = await silentBuild({ runner: 0, trace: 0, started: 71 });
  const within = await silentBuild({ runner: 0, trace: 0, started: 69 });
  await endLostBuilds(holder.app.work);
  t.deepEqual(await stateOf(over.build.id), { status: 'failed', failure_reason: 'stuck_or_timeout_failure' });
  t.regex(await traceOf(over.project, over.build.id), /longer than its time limit/);
  t.is((await stateOf(within.build.id))?.status, 'running');
});

test.serial('a build that no runner took for a day fails and leaves the queue', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const build = await app.make.build(project);
  await app.rows(`update pending_builds set created_at = now() - interval '25 hours' where build_id = $1`, [
    build.id,
  ]);
  await endLostBuilds(app.work);
  t.is((await stateOf(build.id))?.status, 'failed');
  t.deepEqual(await app.rows('select 1 from pending_builds where build_id = $1', [build.id]), []);
  t.regex(await traceOf(project, build.id), /no runner took the build/);
});

test('artifacts past their date lose their bytes, and kept ones do not', async (t) => {
  const { app } = holder;
  const { storage } = app.services;
  const [expiredKey, keptKey] = ['artifacts/x.zip', 'artifacts/y.zip'];
  for (const key of [expiredKey, keptKey]) await storage.put(key, Readable.from(['x']));
  const project = await app.make.project();
  const columns = {
    artifacts_filename: 'a.zip',
    artifacts_size: 1,
    artifacts_expire_at: new Date(Date.now() - 1000),
  };
  const build = await app.make.build(project, {
    status: 'success',
    columns: { ...columns, artifacts_key: expiredKey },
  });
  const later = {
    ...columns,
    artifacts_key: keptKey,
    artifacts_expire_at: new Date(Date.now() + 60_000),
  };
  const kept = await app.make.build(project, { status: 'success', columns: later });
  const keep = `/api/v3/projects/${project.id}/builds/${kept.id}/artifacts/keep`;
  t.is((await app.call('POST', keep, { as: project.owner.token })).status, 200);
  t.is(
    (await app.call('POST', keep.replace(String(kept.id), String(build.id)), { as: project.owner.token }))
      .status,
    404,
  );
  await expireArtifacts(app.work);
  const rows = await app.rows<{ id: number; artifacts_key: string | null; artifacts_expire_at: Date | null }>(
    'select id, artifacts_key, artifacts_expire_at from builds where project_id = $1 order by id',
    [project.id],
  );
  t.is(rows[0]?.artifacts_key, null);
  t.is(rows[1]?.artifacts_key, keptKey);
  t.is(rows[1]?.artifacts_expire_at, null);
  // A test beside this one may have carried out the task already.
  await app.runTasks();
  t.is(await storage.get(expiredKey), null);
  const blob = await storage.get(keptKey);
  t.is(blob?.size, 1);
  blob?.stream.destroy();
});

test('coverage is the last number that the pattern finds, of the job before that of the project', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: { build_coverage_regex: 'covered: (\\d+\\.\\d+)%' } });
  const runner = await app.make.runner({ projects: [project] });
  const end = async (coverage: string | null) => {
    const build = await app.make.build(project, { status: 'running', runner, job: { coverage } });
    const trace = 'covered: 10.0%\n\u001b[32mcovered: \u001b[1m98.4%\u001b[0m\nTotal 55\n';
    const report = { token: runner.token, state: 'success', trace };
    await app.call('PUT', `/ci/api/v1/builds/${build.id}`, { json: report });
    await app.runTasks();
    const path = `/api/v3/projects/${project.id}/builds/${build.id}`;
    return (await app.call<{ coverage: number | null }>('GET', path, { as: project.owner.token })).body
      .coverage;
  };
  t.is(await end(null), 98.4);
  t.is(await end('Total \\d+'), 55);
  t.is(await end('(((broken'), null);
});
