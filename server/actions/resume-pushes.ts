import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Time for a git that outlived its server to end. */
const delaySeconds = 5;

/**
 * Looks again, soon, at every push that is recorded and not settled. The tasks that were added with the pushes
 * may be held for hours by a worker that died. For the start of a server; settling twice does no harm.
 */
export async function resumePushes(work: Work): Promise<void> {
  const rows = await sql<{ id: number }>(work.em, 'select id from pushes order by id');
  for (const { id } of rows) {
    await work.queue.add(work.em, 'settle_push', { pushId: id }, { delaySeconds, key: `settle_push:${id}` });
  }
}
