import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { startWorker } from '../../server/jobs/worker.ts';
import { withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { startServerProcess } from '../support/server-process.ts';

const holder = withApp({ poolSize: 3 });

/** A finished build with a trace, whose bytes still lie in the database. */
async function tracedBuild(): Promise<number> {
  const { app } = holder;
  const build = await app.make.build(await app.make.project(), { status: 'success' });
  await app.rows('update traces set length = 5 where build_id = $1', [build.id]);
  await app.rows(`insert into trace_parts (build_id, start, bytes) values ($1, 0, 'hello')`, [build.id]);
  return build.id;
}

async function isArchived(buildId: number): Promise<boolean> {
  const rows = await holder.app.rows('select 1 from traces where build_id = $1 and blob_key is not null', [
    buildId,
  ]);
  return rows.length > 0;
}

/** Holds every trace, so that a task that moves one waits, and cannot end. */
async function holdTraces(t: ExecutionContext): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: holder.app.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('lock table traces in share row exclusive mode');
  const release = () => client.end();
  t.teardown(release);
  return release;
}

function lockedTasks(): Promise<{ locked_by: string }[]> {
  return holder.app.rows(
    `select locked_by from graphile_worker.jobs where locked_by is not null and task_identifier = 'archive_trace'`,
  );
}

/** As if a minute had passed since the others heard of it. */
async function letTimePass(worker: string): Promise<void> {
  const { rows } = holder.app;
  await rows(`update working_servers set seen_at = seen_at - interval '61 seconds' where worker = $1`, [
    worker,
  ]);
  await rows(
    `update graphile_worker._private_jobs set locked_at = locked_at - interval '61 seconds' where locked_by = $1`,
    [worker],
  );
}

/** A server in the middle of moving the trace of a build. */
async function serverAtWork(t: ExecutionContext) {
  const { app } = holder;
  const id = await tracedBuild();
  const release = await holdTraces(t);
  const server = await startServerProcess(t, app);
  await app.services.queue.add(app.work.em, 'archive_trace', { buildId: id });
  await eventually(async () => (await lockedTasks()).length === 1);
  return { id, release, server };
}

test.serial('a task in whose middle a server was killed is carried out by another one', async (t) => {
  const { app } = holder;
  const { id, release, server } = await serverAtWork(t);
  const [{ locked_by: killed } = { locked_by: '' }] = await lockedTasks();
  await server.crash();
  await release();
  await letTimePass(killed);
  const worker = await startWorker(app.services, app.databaseUrl);
  t.teardown(() => worker.stop());
  await eventually(() => isArchived(id));
  t.deepEqual(await lockedTasks(), []);
});

test.serial('a task of a server that is alive is left to it, for as long as it takes', async (t) => {
  const { app } = holder;
  const { id, release, server } = await serverAtWork(t);
  await app.rows(
    `update graphile_worker._private_jobs set locked_at = locked_at - interval '3 hours' where locked_by is not null`,
  );
  const before = await lockedTasks();
  const worker = await startWorker(app.services, app.databaseUrl);
  t.teardown(() => worker.stop());
  t.deepEqual(await lockedTasks(), before);
  await release();
  await eventually(() => isArchived(id));
  await eventually(async () => (await lockedTasks()).length === 0);
  await server.crash();
});

test.serial('a database that goes away in the middle of a task costs nothing but time', async (t) => {
  const { app } = holder;
  const id = await tracedBuild();
  const release = await holdTraces(t);
  const worker = await startWorker(app.services, app.databaseUrl);
  t.teardown(() => worker.stop());
  await app.services.queue.add(app.work.em, 'archive_trace', { buildId: id });
  await eventually(async () => (await lockedTasks()).length === 1);
  const before = await lockedTasks();
  const admin = await administrator(t);
  await admin.query(`alter database ${admin.database} allow_connections false`);
  // In this order: the task fails when its end can be told to nobody any more.
  for (const which of [`application_name = 'hearth worker'`, `wait_event_type = 'Lock'`]) {
    await admin.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1 and ${which}`,
      [admin.database],
    );
  }
  await release();
  await eventually(() => app.logLines.some((line) => line.includes('background tasks were interrupted')));
  await admin.query(`alter database ${admin.database} allow_connections true`);
  await eventually(() => isArchived(id));
  await eventually(async () => (await lockedTasks()).length === 0);
  t.is(before.length, 1);
});

/** Another connection to the same PostgreSQL, outside of the test's database. */
async function administrator(t: ExecutionContext) {
  const client = new pg.Client({ connectionString: process.env.HEARTH_TEST_DATABASE_URL });
  await client.connect();
  t.teardown(() => client.end());
  const { pathname } = new URL(holder.app.databaseUrl.replace(/@\//, '@localhost/'));
  return { database: pathname.slice(1), query: client.query.bind(client) as pg.Client['query'] };
}
