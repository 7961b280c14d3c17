import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import {
  type PostgresSupervisor,
  type SupervisorTiming,
  superviseEmbeddedPostgres,
} from '../../../server/postgres/supervisor.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const fast: SupervisorTiming = { delay: { first: 10, max: 50 }, settled: 60_000, patience: 0 };
const never: SupervisorTiming = { ...fast, delay: { first: 3_600_000, max: 3_600_000 } };

interface Supervised {
  dir: string;
  postgres: PostgresSupervisor;
  said: string[];
}

async function start(t: ExecutionContext, timing: SupervisorTiming): Promise<Supervised> {
  const dir = await temporaryFolder(t);
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const log = { debug() {}, warn: say, error: say };
  const postgres = await superviseEmbeddedPostgres({ dir, durable: true, log, timing });
  t.teardown(() => postgres.stop());
  return { dir, postgres, said };
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Asks until there is an answer: the address stays the same. */
async function eventualAnswer(url: string, text: string): Promise<Record<string, unknown>[]> {
  let rows: Record<string, unknown>[] = [];
  await eventually(async () => {
    try {
      rows = await query(url, text);
      return true;
    } catch {
      return false; // it is away, which is why this asks again
    }
  });
  return rows;
}

test('a PostgreSQL that is killed comes back under the same address, with what was committed', async (t) => {
  const { postgres, said } = await start(t, { ...fast, patience: 600_000 });
  await query(postgres.url, 'create table kept (round int)');
  for (const round of [1, 2, 3]) {
    await query(postgres.url, `insert into kept values (${round})`);
    // Work that does not look at its PostgreSQL by itself.
    const busy = t.throwsAsync(query(postgres.url, 'select count(*) from generate_series(1, 1e11::bigint)'));
    await eventually(
      async () =>
        (await query(postgres.url, `select 1 from pg_stat_activity where query like '%1e11%'`)).length > 1,
    );
    const { pid } = postgres;
    process.kill(pid, 'SIGKILL');
    await busy;
    t.deepEqual(await eventualAnswer(postgres.url, 'select count(*)::int as rounds from kept'), [
      { rounds: round },
    ]);
    t.not(postgres.pid, pid);
  }
  t.is(said.filter((text) => /^the database ended: PostgreSQL ended with SIGKILL/.test(text)).length, 3);
  t.is(said.filter((text) => /^the database is back, after \d+ ms$/.test(text)).length, 3);
});

test('a PostgreSQL that cannot be brought back is given up, with its last words', async (t) => {
  const { dir, postgres, said } = await start(t, fast);
  const control = join(dir, 'cluster', 'global', 'pg_control');
  await rename(control, `${control}.away`);
  process.kill(postgres.pid, 'SIGKILL');
  t.regex(await postgres.lost, /cannot be started: .*pg_control/);
  t.regex(said.at(-1) ?? '', /pg_control/);
});

test('while there may be a way back it is tried again and again', async (t) => {
  const { dir, postgres, said } = await start(t, { ...fast, patience: 600_000 });
  const control = join(dir, 'cluster', 'global', 'pg_control');
  await rename(control, `${control}.away`);
  process.kill(postgres.pid, 'SIGKILL');
  await eventually(() => said.filter((text) => text.includes('pg_control')).length > 3);
  await rename(`${control}.away`, control);
  t.deepEqual(await eventualAnswer(postgres.url, 'select 1 as one'), [{ one: 1 }]);
});

test('it can be stopped while it is away', async (t) => {
  const { dir, postgres, said } = await start(t, never);
  process.kill(postgres.pid, 'SIGKILL');
  await eventually(() => said.some((text) => text.startsWith('the database ended')));
  await postgres.stop();
  t.false(existsSync(join(dir, 'socket-folder')));
  t.is(await Promise.race([postgres.lost, Promise.resolve('not given up')]), 'not given up');
});
