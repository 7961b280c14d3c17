import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { startWorker } from '../../server/jobs/worker.ts';
import { serveGit } from '../git/http-server.ts';
import { git, makeBench } from '../git/real-git.ts';
import { eventually } from '../support/eventually.ts';
import { withPushes } from '../support/pushes.ts';
import { startServerProcess } from '../support/server-process.ts';

const { holder, filled } = withPushes();

/** Keeps everybody else from a row until it is called. */
async function holdProject(t: ExecutionContext, id: number): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: holder.app.databaseUrl });
  await client.connect();
  t.teardown(() => client.end());
  await client.query('begin');
  await client.query('select 1 from projects where id = $1 for update', [id]);
  return async () => {
    await client.query('commit');
  };
}

function staged(): Promise<string[]> {
  return readdir(join(holder.app.services.repositoriesDir, 'staging')).catch(() => []);
}

async function makeOld(names: string[]): Promise<void> {
  const old = new Date(Date.now() - 7 * 3_600_000);
  for (const name of names)
    await utimes(join(holder.app.services.repositoriesDir, 'staging', name), old, old);
}

test.serial(
  'a server that is killed in the middle of a fork leaves no project, and a sweep takes the rest',
  async (t) => {
    const { app } = holder;
    const { project } = await filled();
    await app.rows('update projects set visibility_level = 20 where id = $1', [project.id]);
    const user = await app.make.user();
    const release = await holdProject(t, project.id);
    const server = await startServerProcess(t, app);
    const fork = fetch(`${server.url}/api/v3/projects/fork/${project.id}`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': user.token },
    }).catch((error: Error) => error);
    await eventually(async () => (await waiting()) > 0);
    const names = await staged();
    t.is(names.length, 1);
    await server.crash();
    t.true((await fork) instanceof Error);
    await release();
    t.deepEqual(await app.rows('select 1 from projects where forked_from_id = $1', [project.id]), []);
    t.deepEqual(await app.rows('select forks_count from projects where id = $1', [project.id]), [
      { forks_count: 0 },
    ]);
    const lost = repositoryDir(app.services.repositoriesDir, /^fork-(\d+)-/.exec(names[0] ?? '')?.[1] ?? '');
    await t.notThrowsAsync(stat(lost));
    await makeOld(names);
    await app.services.queue.add(app.work.em, 'sweep_stagings', {});
    await app.runTasks();
    await t.throwsAsync(stat(lost), { code: 'ENOENT' });
    t.deepEqual(await staged(), []);
    const again = await app.call('POST', `/api/v3/projects/fork/${project.id}`, { as: user.token });
    t.is(again.status, 201);
  },
);

/** Statements that wait for a lock that somebody else holds. */
async function waiting(): Promise<number> {
  const rows = await holder.app.rows(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}

test.serial(
  'a server that is killed in the middle of an import is followed by one that does it again',
  async (t) => {
    const { app } = holder;
    const bench = await makeBench();
    t.teardown(() => bench.clean());
    const { dir, sha } = await bench.filled();
    let isHeld = true;
    let held = 0;
    const source = await serveGit({
      dir,
      instead(request) {
        if (isHeld && request.method === 'POST') held += 1;
        return isHeld && request.method === 'POST';
      },
    });
    t.teardown(() => source.close());
    await app.rows('update settings set local_requests_allowed = true');
    const user = await app.make.user();
    const server = await startServerProcess(t, app);
    const answer = await app.call<{ id: number }>('POST', '/api/v3/projects', {
      as: user.token,
      json: { name: 'crash', import_url: source.url },
    });
    t.is(answer.status, 201);
    await eventually(() => held > 0);
    await server.crash();
    isHeld = false;
    const { id } = answer.body;
    await app.rows(`update working_servers set seen_at = seen_at - interval '10 minutes'`);
    await app.rows(
      `update graphile_worker._private_jobs set locked_at = locked_at - interval '10 minutes' where locked_by is not null`,
    );
    const worker = await startWorker(app.services, app.databaseUrl);
    t.teardown(() => worker.stop());
    const status = async () =>
      (
        await app.rows<{ import_status: string }>('select import_status from projects where id = $1', [id])
      )[0];
    await eventually(async () => (await status())?.import_status === 'finished');
    const target = repositoryDir(app.services.repositoriesDir, id);
    t.is(await git(target, 'rev-parse', 'master'), sha);
    t.is(await git(target, 'fsck', '--full'), '');
    const events = await app.rows('select action from events where project_id = $1', [id]);
    t.deepEqual(events, [{ action: 'imported' }]);
    // What the first server was at; the second one has yet to clear its own away.
    await eventually(async () => (await staged()).length === 1);
    await makeOld(await staged());
    await app.services.queue.add(app.work.em, 'sweep_stagings', {});
    await eventually(async () => (await staged()).length === 0);
    t.is(await git(target, 'rev-parse', 'master'), sha);
  },
);
