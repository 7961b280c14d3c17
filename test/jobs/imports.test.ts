import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { importProject } from '../../server/actions/import-project.ts';
import { startWorker } from '../../server/jobs/worker.ts';
import { serveGit } from '../git/http-server.ts';
import { type Bench, makeBench } from '../git/real-git.ts';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp({ poolSize: 3 });
let bench: Bench;
test.serial.before(async () => {
  bench = await makeBench();
  await holder.app.rows('update settings set local_requests_allowed = true');
});
test.after.always(() => bench.clean());

/** A server that never gets to sending a repository, until it is told to. */
async function slowSource(t: ExecutionContext) {
  const { dir } = await bench.filled();
  let isSlow = true;
  let begin: () => void = () => undefined;
  let end: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  /** Whoever was fetching went away. */
  const left = new Promise<void>((resolve) => {
    end = resolve;
  });
  const server = await serveGit({
    dir,
    async instead(request, response) {
      if (!isSlow || request.method !== 'POST') return false;
      begin();
      await once(response, 'close');
      end();
      return true;
    },
  });
  t.teardown(() => server.close());
  const hurry = () => {
    isSlow = false;
  };
  return { url: server.url, begun, left, hurry };
}

async function create(import_url: string): Promise<number> {
  const { app } = holder;
  const { token } = await app.make.user();
  const { body } = await app.call<{ id: number }>('POST', '/api/v3/projects', {
    as: token,
    json: { name: 'Imported', import_url },
  });
  return body.id;
}

async function stagingsOf(id: number): Promise<string[]> {
  const names = await readdir(join(holder.app.services.repositoriesDir, 'staging'));
  return names.filter((name) => name.startsWith(`import-${id}-`));
}

function statusOf(id: number): Promise<unknown[]> {
  return holder.app.rows('select import_status, import_error from projects where id = $1', [id]);
}

const started = [{ import_status: 'started', import_error: null }];
const jobs = `select attempts, locked_by, run_at <= now() as is_due from graphile_worker.jobs where key = $1`;

test.serial('an import ends when its project is removed', async (t) => {
  const { app } = holder;
  const source = await slowSource(t);
  const id = await create(source.url);
  await app.services.queue.remove(app.work.em, `import_project:${id}`);
  const running = importProject(app.work, id, { lookMs: 20 });
  await source.begun;
  t.is((await stagingsOf(id)).length, 1);
  t.is((await app.call('DELETE', `/api/v3/projects/${id}`, { as: rootToken })).status, 200);
  await running;
  await source.left;
  t.deepEqual(await stagingsOf(id), []);
  await app.runTasks();
  t.deepEqual(await statusOf(id), []);
});

test.serial('an import ends with its server, and begins anew with the next one', async (t) => {
  const { app } = holder;
  const source = await slowSource(t);
  const id = await create(source.url);
  const worker = await startWorker(app.services, app.databaseUrl);
  await source.begun;
  await worker.stop();
  await source.left;
  t.deepEqual(await stagingsOf(id), []);
  t.deepEqual(await statusOf(id), started);
  const waiting = [{ attempts: 0, locked_by: null, is_due: true }];
  t.deepEqual(await app.rows(jobs, [`import_project:${id}`]), waiting);
  source.hurry();
  await app.runTasks();
  t.deepEqual(await statusOf(id), [{ import_status: 'finished', import_error: null }]);
});

test.serial('an import that no attempt is left for fails, one that has some goes on', async (t) => {
  const { app } = holder;
  const { services, work } = app;
  const source = await slowSource(t);
  const [lost, spent, last, waiting] = await Promise.all([1, 2, 3, 4].map(() => create(source.url)));
  await services.queue.remove(work.em, `import_project:${lost}`);
  const change = (set: string, id = 0) =>
    app.rows(`update graphile_worker._private_jobs set ${set} where key = $1`, [`import_project:${id}`]);
  await change('attempts = max_attempts', spent);
  await change(`attempts = max_attempts, locked_by = 'somebody', locked_at = now()`, last);
  await change(`attempts = 24, run_at = now() + interval '1 hour'`, waiting);
  await services.queue.add(work.em, 'end_lost_imports', {});
  await app.runTasks();
  const failed = [{ import_status: 'failed', import_error: 'this server could not carry it out' }];
  for (const id of [lost, spent]) {
    t.deepEqual(await statusOf(id ?? 0), failed);
    t.deepEqual(await app.rows('select action from events where project_id = $1', [id]), [
      { action: 'created' },
    ]);
  }
  for (const id of [last, waiting]) t.deepEqual(await statusOf(id ?? 0), started);
});
