import type { Work } from '../services.ts';
import { enqueue } from './enqueue.ts';
import {
  groupBody,
  type Happening,
  keyBody,
  memberBody,
  projectBody,
  teamBody,
  userBody,
} from './system-bodies.ts';

/**
 * Tells the system hooks of something that happened, once the transaction of `work` is committed. Call it while the
 * rows it names are there: after a creation, before a removal. Costs one statement while there are no hooks.
 */
export async function announceProject(
  work: Work,
  event: 'project_create' | 'project_destroy',
  projectId: number,
): Promise<void> {
  await tell(work, event, await projectBody(work, projectId));
}

/** @param move `oldPath` is `namespace/path` before the move; call it after. */
export async function announceProjectMove(
  work: Work,
  event: 'project_rename' | 'project_transfer',
  { projectId, oldPath }: { projectId: number; oldPath: string },
): Promise<void> {
  const body = await projectBody(work, projectId);
  await tell(work, event, body && { ...body, old_path_with_namespace: oldPath });
}

export async function announceUser(
  work: Work,
  event: 'user_create' | 'user_destroy',
  userId: number,
): Promise<void> {
  await tell(work, event, await userBody(work, userId));
}

export async function announceTeam(
  work: Work,
  event: 'user_add_to_team' | 'user_remove_from_team',
  member: { projectId: number; userId: number; accessLevel: number },
): Promise<void> {
  await tell(work, event, await teamBody(work, member));
}

export async function announceGroup(
  work: Work,
  event: 'group_create' | 'group_destroy',
  groupId: number,
): Promise<void> {
  await tell(work, event, await groupBody(work, groupId));
}

export async function announceGroupMember(
  work: Work,
  event: 'user_add_to_group' | 'user_remove_from_group',
  member: { groupId: number; userId: number; accessLevel: number },
): Promise<void> {
  await tell(work, event, await memberBody(work, member));
}

/** Of a user's key; a deploy key belongs to nobody. */
export async function announceKey(
  work: Work,
  event: 'key_create' | 'key_destroy' | 'deploykey_create' | 'deploykey_destroy',
  keyId: number,
): Promise<void> {
  await tell(work, event, await keyBody(work, keyId));
}

async function tell(work: Work, event: string, happening: Happening | null): Promise<void> {
  if (!happening) return;
  const { created_at, updated_at, ...rest } = happening;
  const body = { event_name: event, created_at, updated_at, ...rest };
  await enqueue(work, body);
}
