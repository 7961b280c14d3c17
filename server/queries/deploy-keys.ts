import type { EntityManager } from '@mikro-orm/postgresql';
import { accessLevels } from '../../shared/access-level.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { memberProjects } from './member-projects.ts';
import { type KeyRow, keyColumns } from './ssh-keys.ts';

const ofProject = 'keys k join project_deploy_keys d on d.key_id = k.id and d.project_id = $1';

/** Deploy keys that a project has enabled, newest first. */
export function listDeployKeys(projectId: number): ListQuery {
  return { columns: keyColumns, from: ofProject, order: 'k.id desc', values: [projectId] };
}

export async function findDeployKey(
  em: EntityManager,
  projectId: number,
  keyId: number,
): Promise<KeyRow | null> {
  return sqlOne<KeyRow>(em, `select ${keyColumns} from ${ofProject} where k.id = $2`, [projectId, keyId]);
}

/** Which deploy key: by its id, or by what OpenSSH prints of it. */
export type DeployKeyName = { id: number } | { fingerprintSha256: string };

/**
 * A deploy key that somebody may enable elsewhere: a public one, or one of a project that he takes part in.
 * Administrators may enable any.
 */
export async function findUsableDeployKey(
  em: EntityManager,
  viewer: { id: number; is_admin: boolean },
  name: DeployKeyName,
): Promise<KeyRow | null> {
  const column = 'id' in name ? 'k.id' : 'k.fingerprint_sha256';
  return sqlOne<KeyRow>(
    em,
    `select ${keyColumns} from keys k where ${column} = $3 and k.user_id is null and ($2 or k.public or exists (
       select 1 from project_deploy_keys d join projects p on p.id = d.project_id and not p.pending_delete
       where d.key_id = k.id and p.id in (${memberProjects('$1', accessLevels.guest)})))`,
    [viewer.id, viewer.is_admin, 'id' in name ? name.id : name.fingerprintSha256],
  );
}
