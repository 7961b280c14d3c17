import { accessLevels } from '../../shared/access-level.ts';
import { GroupMember } from '../entities/member.ts';
import { Namespace } from '../entities/namespace.ts';
import { Settings } from '../entities/settings.ts';
import { announceGroup, announceGroupMember } from '../hooks/announce.ts';
import { openLevelUpTo, requireOpenLevel } from '../policy/visibility.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { requireGroupWords } from './group-rules.ts';

export interface NewGroup {
  name: string;
  path: string;
  description?: string | undefined;
  visibilityLevel?: number | undefined;
  /** Whether its projects cannot be shared with other groups. */
  shareLock?: boolean | undefined;
}

/**
 * Makes a group whose first owner is the caller.
 *
 * @returns its id.
 * @throws AppError 400 with the faults.
 */
export async function createGroup(work: Work, viewer: Viewer, request: NewGroup): Promise<number> {
  const { em } = work;
  const { name, path, description = '' } = request;
  await requireGroupWords(work, { id: 0, name, path, description });
  const settings = await em.findOneOrFail(Settings, { id: 1 });
  if (request.visibilityLevel !== undefined) {
    requireOpenLevel(request.visibilityLevel, { viewer, settings });
  }
  const visibilityLevel =
    request.visibilityLevel ?? openLevelUpTo(settings.defaultGroupVisibility, { viewer, settings });
  const shareWithGroupLock = request.shareLock ?? false;
  const words = { name, path, description, visibilityLevel, shareWithGroupLock };
  const groupId = await em.insert(Namespace, { kind: 'group', ...words });
  const accessLevel = accessLevels.owner;
  await em.insert(GroupMember, { group: groupId, user: viewer.id, accessLevel });
  await announceGroup(work, 'group_create', groupId);
  await announceGroupMember(work, 'user_add_to_group', { groupId, userId: viewer.id, accessLevel });
  return groupId;
}
