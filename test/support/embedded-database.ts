import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Hearth } from './hearth.ts';

/** The PostgreSQL inside of a server that was started as users start it. */
export class EmbeddedDatabase {
  readonly #dir: string;

  constructor({ dataDir }: Pick<Hearth, 'dataDir'>) {
    this.#dir = join(dataDir, 'postgres');
  }

  /** Number of its main process. */
  async pid(): Promise<number> {
    return Number.parseInt(await readFile(join(this.#dir, 'cluster', 'postmaster.pid'), 'utf8'), 10);
  }

  /** Ends its main process as the kernel does when memory runs out. */
  async kill(): Promise<void> {
    process.kill(await this.pid(), 'SIGKILL');
  }

  async rows<T>(text: string, values: unknown[] = []): Promise<T[]> {
    const folder = (await readFile(join(this.#dir, 'socket-folder'), 'utf8')).trim();
    const password = (await readFile(join(this.#dir, 'password'), 'utf8')).trim();
    return rowsOf({ host: folder, user: 'hearth', password, database: 'hearth' }, text, values);
  }
}

/** Asks a database once, on a connection of its own. */
export async function rowsOf<T>(config: pg.ClientConfig, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client(config);
  // It may be killed under the client; what counts is the answer.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
