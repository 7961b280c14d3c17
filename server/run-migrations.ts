import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { migrations } from './migrations/index.ts';
import { migrationsTable } from './migrations/names.ts';
import { ormOptions } from './orm.ts';

/** Runs the migrations that the database has not had yet. The caller sees to it that nobody else does. */
export async function runMigrations(url: string): Promise<void> {
  const orm = await MikroORM.init({
    ...ormOptions({ url, poolSize: 1 }),
    extensions: [Migrator],
    migrations: {
      tableName: migrationsTable,
      snapshot: false,
      migrationsList: migrations,
      // Each of our migrations is small; one transaction for all leaves the old schema or the new one.
      allOrNothing: true,
    },
  });
  try {
    await orm.getMigrator().up();
  } finally {
    await orm.close();
  }
}
