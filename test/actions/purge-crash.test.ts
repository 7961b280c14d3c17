import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { rootToken, withApp } from '../support/app.ts';
import { databaseLocks } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';
import { startServerProcess } from '../support/server-process.ts';

const holder = withApp({ poolSize: 3 });
const { hold, somebodyWaits } = databaseLocks(holder);

const builds = 650;
const last = '(select max(id) from';

/** Where the task is stopped: it waits for a row that the test holds. */
const places = {
  'among the builds': `select 1 from builds where id = ${last} builds where project_id = $1) for update`,
  'at the pipelines': 'select 1 from pipelines where project_id = $1 for update',
  'at the activity': 'select 1 from events where project_id = $1 for update',
  'after the repository': 'select 1 from projects where id = $1 for key share',
};

for (const [place, statement] of Object.entries(places)) {
  test.serial(
    `a server that is killed while it removes a project, ${place}, lets another end it`,
    async (t) => {
      const { app } = holder;
      const project = await app.make.project();
      const kept = `artifacts/crash-${project.id}.zip`;
      await app.services.storage.put(kept, Readable.from(['bytes']));
      const { pipelineId, jobId } = await app.make.build(project, { status: 'success' });
      await app.rows(
        `with made as (
         insert into builds (project_id, pipeline_id, job_id, name, stage, stage_idx, status, artifacts_key)
         select $1, $2, $3, 'x', 'test', 1, 'success', case when n = $4 then $5 end from generate_series(1, $4) n
         returning id)
       insert into traces (build_id) select id from made`,
        [project.id, pipelineId, jobId, builds, kept],
      );
      await app.rows(`insert into events (project_id, action) values ($1, 'created')`, [project.id]);
      const count = async (table: string) =>
        (await app.rows(`select 1 from ${table} where project_id = $1`, [project.id])).length;
      const server = await startServerProcess(t, app);
      const lock = await hold(t, statement, [project.id]);
      const answer = await fetch(`${server.url}/api/v3/projects/${project.id}`, {
        method: 'DELETE',
        headers: { 'PRIVATE-TOKEN': rootToken },
      });
      t.is(answer.status, 200);
      await eventually(async () => (await somebodyWaits()) && (await count('builds')) < builds);
      await server.crash();
      const left = await count('builds');
      t.true(place === 'among the builds' ? left > 0 : left === 0, `${left} builds are left`);
      t.is(await count('events'), place === 'after the repository' ? 0 : 1);
      await lock.release();
      await eventually(async () => !(await somebodyWaits()));
      // The others do this a minute after its last sign of life.
      await app.rows('update graphile_worker._private_jobs set locked_at = null, locked_by = null');
      await app.rows('update graphile_worker._private_job_queues set locked_at = null, locked_by = null');
      await app.runAllTasks();
      t.deepEqual(await app.rows('select 1 from projects where id = $1', [project.id]), []);
      for (const table of ['builds', 'pipelines', 'events']) t.is(await count(table), 0, table);
      t.is(await app.services.storage.get(kept), null);
      t.false(existsSync(repositoryDir(app.services.repositoriesDir, project.id)));
    },
  );
}
