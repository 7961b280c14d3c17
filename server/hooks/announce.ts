import { inChunks } from '../../shared/in-chunks.ts';
import type { Work } from '../services.ts';
import { enqueue } from './enqueue.ts';
import {
  groupBodies,
  type Happening,
  keyBodies,
  memberBodies,
  projectBodies,
  teamBodies,
  userBodies,
} from './system-bodies.ts';

/** Messages of one statement. */
const atOnce = 500;

/**
 * Tells the system hooks of something that happened, once the transaction of `work` is committed. Call it while the
 * rows it names are there: after a creation, before a removal. Costs one statement while there are no hooks.
 */
export async function announceProjects(
  work: Work,
  event: 'project_create' | 'project_destroy',
  projectIds: number[],
): Promise<void> {
  for (const ids of inChunks(projectIds, atOnce)) {
    await tell(work, event, await projectBodies(work, ids));
  }
}

export interface ProjectMove {
  projectId: number;
  /** `namespace/path` before the move. */
  oldPath: string;
}

/** Call it after the moves. */
export async function announceProjectMoves(
  work: Work,
  event: 'project_rename' | 'project_transfer',
  moves: ProjectMove[],
): Promise<void> {
  for (const chunk of inChunks(moves, atOnce)) {
    const oldPaths = new Map(chunk.map(({ projectId, oldPath }) => [projectId, oldPath]));
    const bodies = await projectBodies(work, [...oldPaths.keys()]);
    const moved = bodies.map((body) => ({
      ...body,
      old_path_with_namespace: oldPaths.get(body.project_id),
    }));
    await tell(work, event, moved);
  }
}

export async function announceUser(
  work: Work,
  event: 'user_create' | 'user_destroy',
  userId: number,
): Promise<void> {
  await tell(work, event, await userBodies(work, userId));
}

export async function announceTeam(
  work: Work,
  event: 'user_add_to_team' | 'user_remove_from_team',
  member: { projectId: number; userId: number; accessLevel: number },
): Promise<void> {
  await tell(work, event, await teamBodies(work, member));
}

export async function announceGroup(
  work: Work,
  event: 'group_create' | 'group_destroy',
  groupId: number,
): Promise<void> {
  await tell(work, event, await groupBodies(work, groupId));
}

export async function announceGroupMember(
  work: Work,
  event: 'user_add_to_group' | 'user_remove_from_group',
  member: { groupId: number; userId: number; accessLevel: number },
): Promise<void> {
  await tell(work, event, await memberBodies(work, member));
}

/** Of users' keys; a deploy key belongs to nobody. */
export async function announceKeys(
  work: Work,
  event: 'key_create' | 'key_destroy' | 'deploykey_create' | 'deploykey_destroy',
  keyIds: number[],
): Promise<void> {
  await tell(work, event, await keyBodies(work, keyIds));
}

async function tell(work: Work, event: string, happenings: Happening[]): Promise<void> {
  const bodies = happenings.map(({ created_at, updated_at, ...rest }) => {
    return { event_name: event, created_at, updated_at, ...rest };
  });
  await enqueue(work, bodies);
}
