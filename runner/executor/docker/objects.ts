import { removeAll } from './removal.ts';
import type { BuildScope } from './scope.ts';

/** Everything on the engine that belongs to one build. */
export interface BuildObjects {
  containers: Set<string>;
  networks: Set<string>;
  volumes: Set<string>;
}

/** What a build will make under names that are known beforehand. The first container makes the volumes. */
export function plannedObjects(scope: BuildScope): BuildObjects {
  return {
    containers: new Set(),
    networks: new Set(scope.options.network_mode ? [] : [scope.networkName]),
    volumes: new Set([scope.volumeName, scope.scriptVolumeName]),
  };
}

/** Removes what was made for a build and forgets it, so that a second call has nothing to do. */
export async function removeObjects(scope: BuildScope, objects: BuildObjects): Promise<void> {
  await removeAll(scope.engine, {
    containers: [...objects.containers],
    networks: [...objects.networks],
    volumes: [...objects.volumes],
  });
  for (const set of [objects.containers, objects.networks, objects.volumes]) set.clear();
}
