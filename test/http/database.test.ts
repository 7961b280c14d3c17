import test from 'ava';
import pg from 'pg';
import { rootToken, startApp, type TestApp } from '../support/app.ts';

/** Counts the statements that the application sends while `run` goes on, over its one connection. */
async function countStatements(app: TestApp, run: () => Promise<unknown>): Promise<number> {
  const { client } = app.services.orm.em.getKnex() as unknown as {
    client: { acquireConnection(): Promise<pg.Client>; releaseConnection(it: pg.Client): Promise<void> };
  };
  const connection = await client.acquireConnection();
  await client.releaseConnection(connection);
  const query = connection.query;
  let count = 0;
  connection.query = function counted(this: pg.Client, ...given: unknown[]) {
    count += 1;
    return Reflect.apply(query, this, given);
  } as typeof query;
  await run();
  connection.query = query;
  return count;
}

test('a list costs as many statements for 1 row as for 20', async (t) => {
  const app = await startApp();
  t.teardown(() => app.close());
  const { make } = app;
  const user = await make.user();
  const project = await make.project({ owner: user });
  const runner = await make.runner({ projects: [project] });
  const lists = [
    ['users', 3],
    ['projects', 3],
    [`projects/${project.id}/builds`, 4],
    [`projects/${project.id}/runners`, 4],
    ['runners', 3],
  ] as const;
  const count = (path: string, rows: number) =>
    countStatements(app, async () => {
      const answer = await app.call<unknown[]>('GET', `/api/v3/${path}?per_page=${rows}`, { as: user.token });
      t.is(answer.body.length, rows, path);
    });
  await make.build(project, { runner, status: 'running', columns: { user_id: user.id } });
  const few = new Map<string, number>();
  for (const [path] of lists) few.set(path, await count(path, 1));
  for (let index = 0; index < 20; index += 1) {
    await make.project({ owner: user });
    await make.build(project, { runner, status: 'running', columns: { user_id: (await make.user()).id } });
    await make.runner({ projects: [project] });
  }
  for (const [path, most] of lists) {
    const many = await count(path, 20);
    t.is(many, few.get(path) ?? 0, path);
    t.true(many <= most, `${path}: ${many}`);
  }
  const single = [`projects/${project.id}`, `users/${user.id}`, `runners/${runner.id}`, 'user'];
  for (const path of single) {
    const statements = await countStatements(app, () =>
      app.call('GET', `/api/v3/${path}`, { as: rootToken }),
    );
    t.true(statements <= 3, `${path}: ${statements}`);
  }
});

/** Another connection to the same PostgreSQL, outside of the test's database. */
async function administrator(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: process.env.HEARTH_TEST_DATABASE_URL });
  await client.connect();
  return client;
}

function databaseName(app: TestApp): string {
  return new URL(app.databaseUrl.replace(/@\//, '@localhost/')).pathname.slice(1);
}

async function endConnections(admin: pg.Client, name: string): Promise<void> {
  await admin.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
    name,
  ]);
}

const unavailable = { message: '503 Service Unavailable' };

test('while PostgreSQL is away each request is a 503, and afterwards all is well again', async (t) => {
  const app = await startApp();
  const admin = await administrator();
  t.teardown(async () => {
    await admin.end();
    await app.close();
  });
  const name = databaseName(app);
  const requests = [
    ['GET', '/api/v3/user'],
    ['GET', '/api/v3/users'],
    ['POST', '/api/v3/projects'],
    ['POST', '/api/v3/session'],
    ['POST', '/ci/api/v1/builds/register'],
  ] as const;
  const json = { name: 'a', login: 'root', password: 'root-password', token: 'x' };
  const ask = (method: string, path: string) =>
    app.call(method, path, { as: rootToken, ...(method === 'POST' ? { json } : {}) });
  t.is((await ask('GET', '/api/v3/user')).status, 200);
  await admin.query(`alter database ${name} allow_connections false`);
  await endConnections(admin, name);
  for (const [method, path] of requests) {
    const answer = await ask(method, path);
    t.is(answer.status, 503, path);
    t.deepEqual(answer.body, unavailable);
    t.is(answer.headers.get('content-type'), 'application/json');
    t.is(answer.headers.get('retry-after'), '5');
  }
  t.is((await app.call('GET', '/healthz')).status, 200);
  t.is((await app.call('GET', '/readyz')).status, 503);
  await admin.query(`alter database ${name} allow_connections true`);
  t.is((await ask('GET', '/api/v3/user')).status, 200);
  t.is((await ask('POST', '/api/v3/projects')).status, 201);
  t.deepEqual(
    app.logLines.filter((line) => line.includes('"level":50')),
    [],
    'nothing of it is a fault of ours',
  );
});

test('a connection that breaks in the middle of a request is a 503 that changed nothing', async (t) => {
  const app = await startApp();
  const admin = await administrator();
  t.teardown(async () => {
    await admin.end();
    await app.close();
  });
  const { make } = app;
  const user = await make.user();
  const project = await make.project({ owner: user });
  const build = await make.build(project, { status: 'running' });
  const blocker = new pg.Client({ connectionString: app.databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select 1 from builds where id = $1 for update', [build.id]);
  const cancel = `/api/v3/projects/${project.id}/builds/${build.id}/cancel`;
  const stuck = app.call('POST', cancel, { as: user.token });
  const waiting = `select pid from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`;
  for (;;) {
    const { rows } = await admin.query(waiting, [databaseName(app)]);
    if (rows[0]) {
      await admin.query('select pg_terminate_backend($1, 5000)', [rows[0].pid]);
      break;
    }
  }
  const answer = await stuck;
  t.is(answer.status, 503);
  t.deepEqual(answer.body, unavailable);
  await blocker.query('rollback');
  await blocker.end();
  const get = await app.call<{ status: string }>('GET', cancel.replace('/cancel', ''), { as: user.token });
  t.is(get.body.status, 'running');
  const again = await app.call<{ status: string }>('POST', cancel, { as: user.token });
  t.is(again.body.status, 'canceled');
});
