import { accessLevels } from '../../shared/access-level.ts';
import { Namespace } from '../entities/namespace.ts';
import { AppError } from '../errors.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

/** Which namespace: by its id or path, or the one of a user. */
export type PlaceName = { id: number } | { path: string } | { ownerId: number };

/**
 * The namespace for a new project. Until the end of the transaction it stays as it is, and nobody else makes a
 * project in a personal one, so that two requests cannot both take the last place.
 *
 * @returns null where there is none, or none that the viewer may make projects in.
 */
export async function takePlace(work: Work, viewer: Viewer, name: PlaceName): Promise<Namespace | null> {
  const { em } = work;
  const where = await whereOf(work, name);
  const found = where && (await em.findOne(Namespace, { ...where, pendingDelete: false }));
  if (!found || !(await mayCreateIn(work, viewer, found))) return null;
  // Users before namespaces, as where a user is removed. Rows that only name him do not wait for this lock: whoever
  // holds what this transaction comes to may be about to write one.
  if (found.owner) {
    await sql(em, 'select 1 from users where id = $1 for no key update', [found.owner.id]);
  }
  const held = await sqlOne(em, 'select 1 from namespaces where id = $1 and not pending_delete for share', [
    found.id,
  ]);
  return held ? em.findOneOrFail(Namespace, { id: found.id }, { refresh: true }) : null;
}

async function whereOf(
  { em }: Work,
  name: PlaceName,
): Promise<{ id: number } | { owner: { id: number } } | null> {
  if ('id' in name) return { id: name.id };
  if ('ownerId' in name) return { owner: { id: name.ownerId } };
  const row = await sqlOne<{ id: number }>(em, 'select id from namespaces where lower(path) = lower($1)', [
    name.path,
  ]);
  return row && { id: row.id };
}

async function mayCreateIn(work: Work, viewer: Viewer, namespace: Namespace): Promise<boolean> {
  if (viewer.is_admin || namespace.owner?.id === viewer.id) return true;
  const row = await sqlOne<{ access_level: number }>(
    work.em,
    'select access_level from group_members where group_id = $1 and user_id = $2',
    [namespace.id, viewer.id],
  );
  return (row?.access_level ?? 0) >= accessLevels.master;
}

/**
 * Personal projects count against the limit of their owner.
 *
 * @throws AppError 403 when there is no room for another one.
 */
export async function requireRoom(work: Work, namespace: Namespace): Promise<void> {
  if (!namespace.owner) return;
  const row = await sqlOne<{ projects_limit: number; used: number }>(
    work.em,
    `select u.projects_limit, (select count(*)::int from projects where namespace_id = $2 and not pending_delete)
       as used from users u where u.id = $1`,
    [namespace.owner.id, namespace.id],
  );
  if (row && row.used < row.projects_limit) return;
  const limit = row?.projects_limit ?? 0;
  throw new AppError({
    status: 403,
    message: `Your project limit is ${limit} projects! Please contact your administrator to increase it`,
  });
}

/** What of name and path other projects of a namespace have, by attribute. Unique indexes hold it under races. */
export async function takenFaults(
  { em }: Pick<Work, 'em'>,
  wanted: { namespaceId: number; name: string; path: string; exceptId?: number },
): Promise<Record<string, string[]>> {
  const { namespaceId, name, path, exceptId = 0 } = wanted;
  const taken = await sqlOne<{ name: boolean | null; path: boolean | null }>(
    em,
    `select bool_or(name = $2) as name, bool_or(lower(path) = lower($3)) as path from projects
     where namespace_id = $1 and not pending_delete and id <> $4 and (name = $2 or lower(path) = lower($3))`,
    [namespaceId, name, path, exceptId],
  );
  const texts = ['has already been taken'];
  return { ...(taken?.name ? { name: texts } : {}), ...(taken?.path ? { path: texts } : {}) };
}
