import type { EntityManager } from '@mikro-orm/postgresql';
import { can } from '../policy/project.ts';
import { findDeployKey } from '../queries/deploy-keys.ts';
import { findProject } from '../queries/project-row.ts';
import { keyByFingerprint } from '../queries/ssh-keys.ts';
import { type Viewer, viewerByKey } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { type GitAccess, type GitWish, noProject, refused, userAccess } from '../transport/git-access.ts';

/** Who holds a key: a user, or with `viewer` null a machine with a deploy key. */
export interface Caller {
  keyId: number;
  viewer: Viewer | null;
}

/**
 * Who holds the key with this fingerprint now. Asked for each command: a connection may last for hours, in which its
 * user is blocked or the key removed.
 */
export async function callerOf(em: EntityManager, fingerprint: string): Promise<Caller | null> {
  const key = await keyByFingerprint(em, fingerprint);
  if (!key) return null;
  if (key.user_id === null) return { keyId: key.id, viewer: null };
  const viewer = await viewerByKey(em, { by: 'id', value: key.user_id });
  return viewer?.state === 'active' ? { keyId: key.id, viewer } : null;
}

/**
 * The project that somebody wants to fetch from or push to.
 *
 * @throws AppError 404 for a project that he cannot see, 403 for one that he may not read or write.
 */
export async function accessOf(work: Work, caller: Caller, wish: GitWish): Promise<GitAccess> {
  return caller.viewer ? userAccess(work, caller.viewer, wish) : deployKeyAccess(work, caller.keyId, wish);
}

/** A deploy key reads the projects that have it enabled, and what everybody may. */
async function deployKeyAccess(work: Work, keyId: number, { path, right }: GitWish): Promise<GitAccess> {
  const project = await findProject(work.em, path, null);
  if (!project) throw noProject();
  const isEnabled = (await findDeployKey(work.em, project.id, keyId)) !== null;
  if (!isEnabled && !can(null, project, 'read_code')) throw noProject();
  if (right === 'write') throw refused('A deploy key cannot push.');
  return { project, viewer: null };
}
