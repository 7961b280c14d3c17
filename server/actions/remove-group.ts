import { announceGroup } from '../hooks/announce.ts';
import type { Work } from '../services.ts';
import { lockGroup } from './lock-group.ts';
import { removeNamespace } from './remove-namespace.ts';

/** Removes a group with all its projects: nobody sees them any more, and its path is free. */
export async function removeGroup(work: Work, id: number): Promise<void> {
  await lockGroup(work, id, 'whole');
  await announceGroup(work, 'group_destroy', id);
  await removeNamespace(work, id);
}
