import type { MikroORM } from '@mikro-orm/postgresql';
import { runMigrations as migrateQueue } from 'graphile-worker';
import pg from 'pg';

/** Any fixed number does; it only has to be the same in every server of one database. */
const advisoryLock = 4_836_214;

/**
 * Brings the schema up to date. Servers that start together wait for one another on an advisory lock, so each
 * migration runs once.
 */
export async function migrate(orm: MikroORM, url: string): Promise<void> {
  const lock = new pg.Client({ connectionString: url });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [advisoryLock]);
    await orm.getMigrator().up();
    await migrateQueue({ connectionString: url });
  } finally {
    await lock.end();
  }
}
