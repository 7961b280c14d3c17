import { MikroORM, type Options, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { entities } from './entities/index.ts';
import { migrationsTable } from './migrations/names.ts';

export interface OrmRequest {
  url: string;
  /** Most connections held at once. */
  poolSize: number;
}

function ignore(): void {}

/** The query builder prints lost connections on the terminal; the request that lost one says so in the log. */
const quiet = { warn: ignore, error: ignore, debug: ignore, deprecate: ignore };

/** Milliseconds. A database that says nothing at all counts as away. */
const connectLimitMs = 5000;

/** The one set of ORM options, used by the server, the tests and the migrations. */
export function ormOptions({ url, poolSize }: OrmRequest): Options {
  return {
    driver: PostgreSqlDriver,
    clientUrl: url,
    dbName: databaseName(url),
    driverOptions: {
      connection: { connectionString: url, connectionTimeoutMillis: connectLimitMs },
      log: quiet,
    },
    entities,
    pool: { min: 0, max: poolSize },
    forceUtcTimezone: true,
    allowGlobalContext: false,
    discovery: { checkDuplicateFieldNames: true },
    // The job queue keeps its tables in a schema of its own, with migrations of its own.
    schemaGenerator: {
      ignoreSchema: ['graphile_worker'],
      skipTables: [migrationsTable],
      disableForeignKeys: false,
    },
    logger: () => undefined,
  };
}

export async function openOrm(request: OrmRequest): Promise<MikroORM> {
  const orm = await MikroORM.init(ormOptions(request));
  orm.em.getPlatform().marshallArray = arrayLiteral;
  return orm;
}

/** Each text in quotes: the library leaves them out, and PostgreSQL then takes the text `null` for no text at all. */
function arrayLiteral(texts: string[]): string {
  return `{${texts.map((text) => `"${String(text).replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

function databaseName(url: string): string {
  return decodeURIComponent(new URL(url.replace(/@\//, '@localhost/')).pathname.slice(1)) || 'hearth';
}
