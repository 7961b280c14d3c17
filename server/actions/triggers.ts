import type { TriggerRow } from '../queries/triggers.ts';
import { newRunnerToken } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

const returned = 'returning id, project_id, token_sealed, created_at, updated_at, deleted_at, last_used';

/** Makes a token that starts pipelines of the project. */
export async function createTrigger(work: Work, projectId: number, ownerId: number): Promise<TriggerRow> {
  const { digest, sealed } = work.secrets.store(newRunnerToken());
  const [row] = await sql<TriggerRow>(
    work.em,
    `insert into triggers (project_id, owner_id, token_digest, token_sealed) values ($1, $2, $3, $4) ${returned}`,
    [projectId, ownerId, digest, sealed],
  );
  if (!row) throw new Error('no trigger was made');
  return row;
}

/**
 * Revokes a trigger for good.
 *
 * @returns null when somebody else has done so already.
 */
export async function revokeTrigger(work: Work, id: number): Promise<TriggerRow | null> {
  return sqlOne<TriggerRow>(
    work.em,
    `update triggers set deleted_at = now(), updated_at = now() where id = $1 and deleted_at is null ${returned}`,
    [id],
  );
}
