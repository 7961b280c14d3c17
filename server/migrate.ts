import { runMigrations as migrateQueue } from 'graphile-worker';
import pg from 'pg';
import { migrationNames, migrationsTable } from './migrations/names.ts';

/** Any fixed number does; it only has to be the same in every server of one database. */
const advisoryLock = 4_836_214;

/**
 * Brings the schema up to date. Servers that start together wait for one another on an advisory lock, so each
 * migration runs once.
 */
export async function migrate(url: string): Promise<void> {
  const lock = new pg.Client({ connectionString: url });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [advisoryLock]);
    if (await isBehind(lock)) {
      // Read only when it is needed: most starts find everything done.
      const { runMigrations } = await import('./run-migrations.ts');
      await runMigrations(url);
    }
    await migrateQueue({ connectionString: url });
  } finally {
    await lock.end();
  }
}

async function isBehind(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as is_there', [migrationsTable]);
  if (!rows[0]?.is_there) return true;
  const had = await client.query<{ name: string }>(`select name from ${migrationsTable}`);
  const names = new Set(had.rows.map(({ name }) => name));
  return migrationNames.some((name) => !names.has(name));
}
