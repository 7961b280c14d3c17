import type { RefChange } from '../entities/push.ts';
import { unauthorized } from '../errors.ts';
import { zeroSha } from '../git/ref-name.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { settlePush } from './settle-push.ts';

/** After so long a push that was cut off by a crash is looked at again. */
const firstLookSeconds = 20;

export interface PushRequest {
  projectId: number;
  userId: number | null;
  changes: RefChange[];
  /** Holds, in the transaction that writes the push down, what must not change before that; throws if it has. */
  hold?: ((inner: Work) => Promise<void>) | undefined;
}

/**
 * Writes down what a push is about to change, durably, before git is let to it.
 *
 * @throws AppError 401 for a user who was blocked or removed since the request began: a client may take its time.
 * @returns the id under which the push is settled; git records it in the log of every ref that it moves.
 */
export async function recordPush(work: Work, push: PushRequest): Promise<number> {
  const { projectId, userId, changes } = push;
  // A deletion takes the log of the ref along, and with it what an unsettled push would be judged by.
  if (changes.some((change) => change.newSha === zeroSha)) await settleOutstanding(work, projectId);
  return inTransaction(work, async (inner) => {
    const { em } = inner;
    await push.hold?.(inner);
    const row = await sqlOne<{ id: number }>(
      em,
      `insert into pushes (project_id, user_id, changes) select $1, $2, $3::jsonb
       where $2::int is null or exists (select 1 from users where id = $2 and state = 'active') returning id`,
      [projectId, userId, JSON.stringify(changes)],
    );
    if (!row) throw unauthorized();
    const pushId = row.id;
    await work.queue.add(
      em,
      'settle_push',
      { pushId },
      { delaySeconds: firstLookSeconds, key: `settle_push:${pushId}` },
    );
    return pushId;
  });
}

/** Writes what follows from pushes of a project that have moved their refs by now and are not settled yet. */
export async function settleOutstanding(work: Work, projectId: number): Promise<void> {
  const rows = await sql<{ id: number }>(work.em, 'select id from pushes where project_id = $1 order by id', [
    projectId,
  ]);
  for (const { id } of rows) await settlePush(work, id, { isOver: false });
}
