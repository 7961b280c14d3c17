import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** The same server, another database. */
export function databaseUrl(url: string, name: string): string {
  return url.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
}

/** An empty, migrated database of its own for one test file. */
export async function createDatabase(): Promise<TestDatabase> {
  const adminUrl = process.env.HEARTH_TEST_DATABASE_URL;
  if (!adminUrl) throw new Error('no test database; run this file by: npm test -- <file>');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(adminUrl, `create database ${name} template hearth_template strategy file_copy`);
  return {
    url: databaseUrl(adminUrl, name),
    drop: () => administer(adminUrl, `drop database ${name} with (force)`),
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
