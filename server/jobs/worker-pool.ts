import pg from 'pg';

type Release = pg.PoolClient['release'];
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: Release) => void;

/**
 * Connections for the library that carries out tasks. When a connection is lost while the library gives it back, it
 * gives it back once more, where nobody catches that this is wrong: with the usual pool, the whole process would end.
 */
export class WorkerPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    if (!connected) return super.connect().then(tolerant);
    super.connect((error, client, release) => {
      if (client) connected(error, client, tolerant(client).release);
      else connected(error, client, release);
    });
    return undefined;
  }
}

/** The pool gives a client another `release` each time that it hands it out. */
function tolerant(client: pg.PoolClient): pg.PoolClient {
  const { release } = client;
  let isReleased = false;
  client.release = (destroy) => {
    if (isReleased) return;
    isReleased = true;
    release(destroy);
  };
  return client;
}
