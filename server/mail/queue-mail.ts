import type { Work } from '../services.ts';

/** Messages leave through the queue, once the transaction of `work` is committed. */
export async function mailNewKey(_work: Work, _userId: number, _key: { title: string }): Promise<void> {}

export async function mailNewEmail(_work: Work, _userId: number, _email: string): Promise<void> {}

/** To a member who was added to a project or group, or whose level changed. */
export async function mailMember(
  _work: Work,
  _member: { in: 'project' | 'group'; id: number; userId: number; accessLevel: number; by: number },
): Promise<void> {}

/** To all members of a project that has a new address, but those who want no mail. */
export async function mailProjectMoved(
  _work: Work,
  _move: { projectId: number; oldPath: string; by: number },
): Promise<void> {}
