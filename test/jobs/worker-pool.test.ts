import test from 'ava';
import type pg from 'pg';
import { WorkerPool } from '../../server/jobs/worker-pool.ts';
import { createDatabase } from '../support/database.ts';

test('a connection that is given back twice, also after it was lost, harms nobody', async (t) => {
  const database = await createDatabase();
  const pool = new WorkerPool({ connectionString: database.url, max: 1 });
  pool.on('error', () => undefined);
  const take = () =>
    new Promise<{ client: pg.PoolClient; release: () => void }>((resolve, reject) => {
      pool.connect((error, client, release) => (client ? resolve({ client, release }) : reject(error)));
    });
  const { release } = await take();
  release();
  const other = await take();
  t.notThrows(release);
  t.is(pool.idleCount, 0, 'whoever has the connection by now keeps it');
  other.client.on('error', () => undefined);
  const isGone = new Promise((resolve) => other.client.once('end', resolve));
  await t.throwsAsync(other.client.query('select pg_terminate_backend(pg_backend_pid())'));
  await isGone;
  other.release();
  t.notThrows(other.release);
  t.is(pool.totalCount, 0);
  const held = await pool.connect();
  t.deepEqual((await held.query('select 1 as one')).rows, [{ one: 1 }]);
  held.release();
  t.notThrows(() => held.release());
  t.is(pool.idleCount, 1);
  await pool.end();
  await database.drop();
});
