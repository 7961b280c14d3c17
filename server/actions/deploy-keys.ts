import { invalid, notFound } from '../errors.ts';
import { announceKeys } from '../hooks/announce.ts';
import { findDeployKey, findUsableDeployKey } from '../queries/deploy-keys.ts';
import type { KeyRow } from '../queries/ssh-keys.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { readSshKey } from './read-ssh-key.ts';
import { insertKey, type NewKey } from './ssh-keys.ts';

interface Place {
  viewer: Viewer;
  projectId: number;
}

/**
 * Lets whoever has this key read the project. A key that is enabled here already, or that the viewer may enable, is
 * used as it is.
 *
 * @throws AppError 400 for what is no key, a weak one, or one that somebody else has.
 */
export async function addDeployKey(
  work: Work,
  { viewer, projectId }: Place,
  request: { [K in keyof NewKey]?: string | undefined },
): Promise<KeyRow> {
  const read = readSshKey(request.key ?? '');
  const title = request.title?.trim() ?? '';
  const blank: Record<string, string[]> = title === '' ? { title: ["can't be blank"] } : {};
  if ('faults' in read) throw invalid({ ...blank, ...read.faults });
  const usable = await findUsableDeployKey(work.em, viewer, read.key);
  if (usable) return enable(work, projectId, usable);
  if (title === '') throw invalid(blank);
  const row = await insertKey(work, { userId: null, title, key: read.key });
  await announceKeys(work, 'deploykey_create', [row.id]);
  return enable(work, projectId, row);
}

/** @throws AppError 404 for a key that the viewer may not enable. */
export async function enableDeployKey(
  work: Work,
  { viewer, projectId }: Place,
  keyId: number,
): Promise<KeyRow> {
  const row = await findUsableDeployKey(work.em, viewer, { id: keyId });
  if (!row) throw notFound('Deploy Key');
  return enable(work, projectId, row);
}

/**
 * The project can no longer be read with the key. A key that no project uses is removed, unless it is public.
 *
 * @returns the key that was, or null when the project does not use it.
 */
export async function disableDeployKey(work: Work, projectId: number, keyId: number): Promise<KeyRow | null> {
  // Two projects that give up the same key come one after the other, so that the second one removes it.
  await sql(work.em, 'select 1 from keys where id = $1 for update', [keyId]);
  const row = await findDeployKey(work.em, projectId, keyId);
  if (!row) return null;
  await sql(work.em, 'delete from project_deploy_keys where project_id = $1 and key_id = $2', [
    projectId,
    keyId,
  ]);
  if (row.public || (await isUsed(work, keyId))) return row;
  await announceKeys(work, 'deploykey_destroy', [keyId]);
  await sql(work.em, 'delete from keys where id = $1', [keyId]);
  return row;
}

async function isUsed({ em }: Work, keyId: number): Promise<boolean> {
  const used = await sqlOne(
    em,
    `select 1 from project_deploy_keys d join projects p on p.id = d.project_id
     where d.key_id = $1 and not p.pending_delete limit 1`,
    [keyId],
  );
  return used !== null;
}

async function enable({ em }: Work, projectId: number, row: KeyRow): Promise<KeyRow> {
  await sql(
    em,
    'insert into project_deploy_keys (project_id, key_id) values ($1, $2) on conflict do nothing',
    [projectId, row.id],
  );
  return row;
}
