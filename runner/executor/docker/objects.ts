import { engineCall } from './engine.ts';
import type { Attachment } from './network.ts';
import type { NetworkPool } from './network-pool.ts';
import { removeAll } from './removal.ts';
import type { BuildScope } from './scope.ts';

/** Everything on the engine that belongs to one build. */
export interface BuildObjects {
  containers: Set<string>;
  volumes: Set<string>;
  /** Where its network came from and goes back to. */
  pool: NetworkPool;
  attachment: Attachment;
}

/** What a build will make under names that are known beforehand. The first container makes the volume. */
export function plannedObjects(
  scope: BuildScope,
  network: Pick<BuildObjects, 'pool' | 'attachment'>,
): BuildObjects {
  return { containers: new Set(), volumes: new Set([scope.volumeName]), ...network };
}

/** Removes what was made for a build and forgets it, so that a second call has nothing to do. */
export async function removeObjects({ engine }: BuildScope, objects: BuildObjects): Promise<void> {
  const { containers, volumes, attachment, pool } = objects;
  const removed = removeAll(engine, { containers: [...containers], networks: [], volumes: [...volumes] });
  const isClean = await removed.then(
    () => true,
    () => false,
  );
  const { own } = attachment;
  attachment.own = null;
  if (own) await engineCall(engine, 'remove the network of the build', () => pool.giveBack(own, isClean));
  // Its fault is the one that counts.
  await removed;
  for (const set of [containers, volumes]) set.clear();
}
