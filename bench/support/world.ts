import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { openOrm } from '../../server/orm.ts';
import { startEmbeddedPostgres } from '../../server/postgres/embedded.ts';
import { Secrets } from '../../server/secrets.ts';
import type { Work } from '../../server/services.ts';
import { Hearth } from '../../test/support/hearth.ts';
import { Make } from '../../test/support/make.ts';
import { Cleanup } from './cleanup.ts';

export const rootToken = 'bench-root-token-123';
export const registrationToken = 'bench-registration-token';

/** A server as users start it, on a PostgreSQL that keeps what it says, and a way past it to its rows. */
export interface World {
  folder: string;
  hearth: Hearth;
  url: string;
  /** Of the server's process. */
  pid: number;
  databaseUrl: string;
  db: pg.Pool;
  make: Make;
  secrets: Secrets;
  /** What is undone when the benchmark is over. */
  cleanup: Cleanup;
}

const silent = { debug: () => undefined, warn: () => undefined, error: () => undefined };

/** Builds a world for one benchmark and takes it down after it, also when that failed or was interrupted. */
export async function withWorld<T>(use: (world: World) => Promise<T>): Promise<T> {
  const cleanup = new Cleanup();
  try {
    return await use(await build(cleanup));
  } finally {
    await cleanup.run();
  }
}

async function build(cleanup: Cleanup): Promise<World> {
  const folder = await temporaryFolder(cleanup);
  const postgres = await startEmbeddedPostgres({ dir: join(folder, 'postgres'), durable: true, log: silent });
  cleanup.add(() => postgres.stop());
  const key = randomBytes(32);
  const settings = {
    DATABASE_URL: postgres.url,
    HEARTH_SECRET_KEY: key.toString('hex'),
    HEARTH_ROOT_TOKEN: rootToken,
    HEARTH_RUNNERS_REGISTRATION_TOKEN: registrationToken,
  };
  const hearth = new Hearth(folder, { settings });
  cleanup.add(() => hearth.stop());
  await hearth.started();
  const db = new pg.Pool({ connectionString: postgres.url, max: 4 });
  cleanup.add(() => db.end());
  const orm = await openOrm({ url: postgres.url, poolSize: 1 });
  cleanup.add(() => orm.close());
  const secrets = new Secrets(key);
  const make = new Make(rowsOnly({ orm, secrets, repositoriesDir: join(hearth.dataDir, 'repositories') }));
  const pid = hearth.server.child.pid ?? 0;
  return { folder, hearth, url: hearth.url, pid, databaseUrl: postgres.url, db, make, secrets, cleanup };
}

/** A new folder on the disk that temporary files are on; it goes with the rest. */
export async function temporaryFolder(cleanup: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-bench-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** As much of the services as making rows needs. */
function rowsOnly(parts: { orm: MikroORM; secrets: Secrets; repositoriesDir: string }): Work {
  return { ...parts, em: parts.orm.em.fork() } as unknown as Work;
}
