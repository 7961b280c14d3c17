import test from 'ava';
import { apiCalls } from '../support/api-calls.ts';
import { rootToken, withApp } from '../support/app.ts';
import { databaseLocks } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import { startServerProcess } from '../support/server-process.ts';

const holder = withApp({ poolSize: 3 });
const { hold, somebodyWaits } = databaseLocks(holder);
const call = apiCalls<{ id: number }>(holder);

/** A group with an owner and a project. */
async function filledGroup() {
  const { make } = holder.app;
  const id = await make.group();
  const owner = await make.user();
  await make.groupMember(id, owner, 'owner');
  return { id, owner, project: await make.project({ namespaceId: id }) };
}

function removeAt(url: string, groupId: number): Promise<Response> {
  return fetch(`${url}/api/v3/groups/${groupId}`, {
    method: 'DELETE',
    headers: { 'PRIVATE-TOKEN': rootToken },
  });
}

/** The others do this a minute after its last sign of life. */
async function takeOverTasks(): Promise<void> {
  const { rows, runAllTasks } = holder.app;
  await rows('update graphile_worker._private_jobs set locked_at = null, locked_by = null');
  await rows('update graphile_worker._private_job_queues set locked_at = null, locked_by = null');
  // Once for the projects, and once for their group, which looks for them.
  for (const _round of [1, 2]) await runAllTasks();
}

test.serial('a server that is killed before a group is removed leaves all of it', async (t) => {
  const { app } = holder;
  const { id, owner, project } = await filledGroup();
  const server = await startServerProcess(t, app);
  const lock = await hold(t, 'select 1 from projects where id = $1 for update', [project.id]);
  const answer = removeAt(server.url, id).catch((error: unknown) => error);
  await eventually(somebodyWaits);
  t.is((await call('GET', `/groups/${id}`, owner.token)).status, 200, 'it is there until all of it goes');
  await server.crash();
  t.true((await answer) instanceof Error, 'nobody was told that it is gone');
  await lock.release();
  await eventually(async () => !(await somebodyWaits()));
  await takeOverTasks();
  t.is((await call('GET', `/groups/${id}`, owner.token)).status, 200);
  t.is((await call('GET', `/projects/${project.id}`, owner.token)).status, 200);
  t.is((await call('DELETE', `/groups/${id}`, owner.token)).status, 200);
});

test.serial(
  'a server that is killed when the last project of a group is gone lets another end it',
  async (t) => {
    const { app } = holder;
    const { id, project } = await filledGroup();
    const server = await startServerProcess(t, app);
    const here = 'where id = $1 for key share';
    // The removal waits for this one, and the task for the other.
    const group = await hold(t, `select 1 from namespaces ${here}`, [id]);
    const row = await hold(t, `select 1 from projects ${here}`, [project.id]);
    const answer = removeAt(server.url, id);
    await eventually(somebodyWaits);
    t.is((await call('GET', `/groups/${id}`, rootToken)).status, 200);
    await group.release();
    t.is((await answer).status, 200);
    t.is((await call('GET', `/groups/${id}`, rootToken)).status, 404);
    const late = await hold(t, `select 1 from namespaces ${here}`, [id]);
    await row.release();
    const projects = () => app.rows('select 1 from projects where id = $1', [project.id]);
    await eventually(async () => (await projects()).length === 0);
    await app.rows(
      "update graphile_worker._private_jobs set run_at = now() where key like 'purge_namespace%'",
    );
    await eventually(somebodyWaits);
    await server.crash();
    await late.release();
    await eventually(async () => !(await somebodyWaits()));
    await takeOverTasks();
    t.deepEqual(await app.rows('select 1 from namespaces where id = $1', [id]), []);
  },
);
