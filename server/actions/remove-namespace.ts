import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { removeProjects } from './remove-projects.ts';

/** Seconds between two looks whether the last project of a removed namespace is gone. */
const lookAgainSeconds = 30;

/**
 * Hides a namespace with all its projects at once and frees its path; the row goes when its last project is purged.
 * A personal one parts from its user here, so that his row may go at any time. Nothing is announced.
 */
export async function removeNamespace(work: Work, namespaceId: number): Promise<void> {
  const { em } = work;
  // Waits for those who are making a project in it, and lets those who come later see that it is gone.
  await sql(em, 'select 1 from namespaces where id = $1 for update', [namespaceId]);
  const projects = await sql<{ id: number }>(
    em,
    'select id from projects where namespace_id = $1 and not pending_delete order by id',
    [namespaceId],
  );
  await removeProjects(
    work,
    projects.map(({ id }) => id),
  );
  // Nobody may take a path that ends in a dot, so this one is in nobody's way.
  await sql(
    em,
    `update namespaces set pending_delete = true, owner_id = null, path = id || '.', updated_at = now()
     where id = $1`,
    [namespaceId],
  );
  await sql(em, 'delete from group_members where group_id = $1', [namespaceId]);
  await sql(em, 'delete from project_shares where group_id = $1', [namespaceId]);
  await queuePurge(work, namespaceId, 0);
}

/** Removes the row of a hidden namespace, or looks again later while it still has projects. */
export async function purgeNamespace(work: Work, namespaceId: number): Promise<void> {
  await sql(
    work.em,
    `delete from namespaces n where n.id = $1 and n.pending_delete
       and not exists (select 1 from projects p where p.namespace_id = n.id)`,
    [namespaceId],
  );
  const left = await sqlOne(work.em, 'select 1 from namespaces where id = $1 and pending_delete', [
    namespaceId,
  ]);
  if (left) await queuePurge(work, namespaceId, lookAgainSeconds);
}

async function queuePurge({ queue, em }: Work, namespaceId: number, delaySeconds: number): Promise<void> {
  await queue.add(
    em,
    'purge_namespace',
    { namespaceId },
    { delaySeconds, key: `purge_namespace:${namespaceId}` },
  );
}
