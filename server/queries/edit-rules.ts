import type { EntityManager } from '@mikro-orm/postgresql';
import type { Protection } from '../policy/branch-protection.ts';
import { sqlOne } from '../sql.ts';
import { protectionOf } from './protected-branches.ts';

/** What decides on an edit of a branch. */
export interface EditRules {
  isImporting: boolean;
  /** Null for a branch that is not protected. */
  protection: Protection | null;
  /** The database's clock, in seconds since 1970. */
  now: number;
}

/** As things are now; null when the project is gone. */
export async function editRules(
  em: EntityManager,
  projectId: number,
  branch: string,
): Promise<EditRules | null> {
  const project = await sqlOne<{ isImporting: boolean; now: number }>(
    em,
    `select import_status = 'started' as "isImporting", floor(extract(epoch from now()))::float8 as now
     from projects where id = $1 and not pending_delete`,
    [projectId],
  );
  return project && { ...project, protection: await protectionOf(em, projectId, branch) };
}
