import pg from 'pg';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (destroy?: Error | boolean) => void,
) => void;

/**
 * Connections for the library that carries out tasks. When a connection is lost while the library gives it back, it
 * gives it back once more, where nobody catches that this is wrong: with the usual pool, the whole process would end.
 */
export class WorkerPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    if (!connected) return super.connect();
    super.connect((error, client, release) => connected(error, client, once(release)));
    return undefined;
  }
}

function once(release: (destroy?: Error | boolean) => void): (destroy?: Error | boolean) => void {
  let isReleased = false;
  return (destroy) => {
    if (isReleased) return;
    isReleased = true;
    release(destroy);
  };
}
