import test from 'ava';
import { startWorker } from '../../server/jobs/worker.ts';
import { withApp } from '../support/app.ts';
import { poll } from '../support/program.ts';

const holder = withApp({ poolSize: 3 });

test('without anybody asking, a build whose runner is gone fails within minutes', async (t) => {
  t.timeout(240_000);
  const { app } = holder;
  const project = await app.make.project();
  const runner = await app.make.runner({ projects: [project] });
  const { id } = await app.make.build(project, { status: 'running', runner });
  const long = `now() - interval '1 hour'`;
  await app.rows(`update runners set contacted_at = ${long} where id = $1`, [runner.id]);
  await app.rows(`update traces set touched_at = ${long} where build_id = $1`, [id]);
  await app.rows(`update builds set started_at = ${long} where id = $1`, [id]);
  // Its silence counts from when a server was there to hear it.
  await app.rows(`insert into working_servers (id, serving_since) values (gen_random_uuid(), ${long})`);
  const worker = await startWorker(app.services, app.databaseUrl);
  t.teardown(() => worker.stop());
  // The clock starts the task at the next full minute.
  const state = await poll('end of the build', 180_000, async () => {
    const [build] = await app.rows<{ status: string }>('select status from builds where id = $1', [id]);
    return build?.status === 'running' ? null : build?.status;
  });
  t.is(state, 'failed');
});
