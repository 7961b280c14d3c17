import type { Work } from '../services.ts';

/**
 * Tells the system hooks of something that happened, once the transaction of `work` is committed. Call it while the
 * rows it names are there: after a creation, before a removal. Costs one statement while there are no hooks.
 */
export async function announceProject(
  _work: Work,
  _event: 'project_create' | 'project_destroy',
  _projectId: number,
): Promise<void> {}

/** @param oldPath `namespace/path` before the move. */
export async function announceProjectMove(
  _work: Work,
  _event: 'project_rename' | 'project_transfer',
  _move: { projectId: number; oldPath: string },
): Promise<void> {}

export async function announceUser(
  _work: Work,
  _event: 'user_create' | 'user_destroy',
  _userId: number,
): Promise<void> {}

export async function announceTeam(
  _work: Work,
  _event: 'user_add_to_team' | 'user_remove_from_team',
  _member: { projectId: number; userId: number; accessLevel: number },
): Promise<void> {}

export async function announceGroup(
  _work: Work,
  _event: 'group_create' | 'group_destroy',
  _groupId: number,
): Promise<void> {}

export async function announceGroupMember(
  _work: Work,
  _event: 'user_add_to_group' | 'user_remove_from_group',
  _member: { groupId: number; userId: number; accessLevel: number },
): Promise<void> {}

/** Of a user's key; a deploy key belongs to nobody. */
export async function announceKey(
  _work: Work,
  _event: 'key_create' | 'key_destroy' | 'deploykey_create' | 'deploykey_destroy',
  _keyId: number,
): Promise<void> {}
