import { createHash } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import pg, { type Client } from 'pg';
import { asDatabaseError, asTransactionError, DatabaseAway } from './database-errors.ts';

/** Where a pool or a transaction of the query builder hands out its connection. */
interface ConnectionSource {
  client: { acquireConnection(): Promise<Client>; releaseConnection(connection: Client): Promise<void> };
}

const names = new Map<string, string>();

/**
 * Runs one statement with `$1`-style parameters on the connection of `em`: inside its transaction when it has
 * one, else on a connection of the same pool. The statement is prepared once per connection, so texts must come
 * from the code and be few; values never go into the text. Moments come as `Date`, whatever the ORM reads them as.
 *
 * @throws pg.DatabaseError when PostgreSQL refuses it, DatabaseAway when there is no connection.
 */
export async function sql<Row>(em: EntityManager, text: string, values: unknown[] = []): Promise<Row[]> {
  const source = (em.getTransactionContext() ?? em.getKnex()) as unknown as ConnectionSource;
  const connection = await acquire(source);
  try {
    const result = await connection.query({ name: nameOf(text), text, values, types: pg.types });
    return result.rows as Row[];
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    await source.client.releaseConnection(connection);
  }
}

/** As `sql`, for a statement that gives at most one row. */
export async function sqlOne<Row>(
  em: EntityManager,
  text: string,
  values: unknown[] = [],
): Promise<Row | null> {
  const rows = await sql<Row>(em, text, values);
  return rows[0] ?? null;
}

/**
 * Runs something in a transaction of its own, on a connection of its own. Not for use inside another transaction:
 * with the pool used up by those, it would wait for ever.
 */
export async function inTransaction<W extends { orm: MikroORM }, T>(
  services: W,
  run: (inner: W & { em: EntityManager }) => Promise<T>,
): Promise<T> {
  const em = services.orm.em.fork() as EntityManager;
  let thrown: unknown;
  const noted = async (transaction: unknown) => {
    em.setTransactionContext(transaction);
    try {
      return await run({ ...services, em });
    } catch (error) {
      thrown = error;
      throw error;
    }
  };
  try {
    // On the connection, not by the entity manager: that one makes each promise of the process dearer from then on.
    return await em.getConnection('write').transactional(noted);
  } catch (error) {
    // After a lost connection the roll-back fails too, and hides why.
    throw thrown ?? asTransactionError(error);
  }
}

async function acquire(source: ConnectionSource): Promise<Client> {
  try {
    return await source.client.acquireConnection();
  } catch (error) {
    throw new DatabaseAway(error);
  }
}

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) {
    name = createHash('sha1').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
}
