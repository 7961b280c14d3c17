import pg from 'pg';
import { migrate } from '../../server/migrate.ts';
import { databaseUrl } from './database.ts';

/** Name of the database that every test file's own one is cloned from. */
export const templateName = 'hearth_template';

/** Migrates once, for all test files of the run. */
export async function prepareTemplate(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`create database ${templateName}`);
  await admin.end();
  await migrate(databaseUrl(adminUrl, templateName));
}
