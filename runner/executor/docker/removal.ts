import type Docker from 'dockerode';
import { type Engine, engineCall, engineError, statusOf } from './engine.ts';
import { removeNetwork } from './network.ts';
import { isHeld } from './network-pool.ts';

/** Things on an engine that are to go. Names and ids are equally good. */
export interface Leftovers {
  containers: string[];
  networks: string[];
  volumes: string[];
}

/** A removal that takes longer is broken off, or a hung engine would hold the slot of the build for ever. */
const limitMs = 60_000;

/**
 * Removes containers, by force and with their anonymous volumes, then networks and volumes. What is not there
 * is no fault. Everything is tried before the first fault is thrown.
 */
export async function removeAll(engine: Engine, leftovers: Leftovers): Promise<void> {
  const { docker } = engine;
  const faults: unknown[] = [];
  const all = async (calls: Promise<unknown>[]) => {
    for (const result of await Promise.allSettled(calls)) {
      if (result.status === 'rejected') faults.push(result.reason);
    }
  };
  await all(leftovers.containers.map((id) => removeContainer(docker.getContainer(id))));
  await all([
    ...leftovers.networks.map((id) => removeNetwork(engine, id)),
    ...leftovers.volumes.map((name) => removeVolume(docker.getVolume(name))),
  ]);
  if (faults.length > 0) throw engineError(engine, 'remove what a build left', faults[0]);
}

/** Everything on the engine that this runner made for builds other than those that are alive. */
export async function findLeftovers(
  engine: Engine,
  runnerId: string,
  liveBuildIds: ReadonlySet<number>,
): Promise<Leftovers> {
  const ours = `hearth.runner=${runnerId}`;
  const filters = { label: [ours, 'hearth.build'] };
  const networkFilters = { label: [ours, 'hearth.role=network'] };
  const { docker } = engine;
  const abortSignal = AbortSignal.timeout(limitMs);
  const [containers, networks, { Volumes: volumes }] = await engineCall(engine, 'list what builds left', () =>
    Promise.all([
      docker.listContainers({ all: true, filters, abortSignal }),
      docker.listNetworks({ filters: networkFilters, abortSignal }),
      docker.listVolumes({ filters, abortSignal }),
    ]),
  );
  // Looked up only now: a build may have come to life while the engine was answering.
  const isLeft = (object: { Labels?: Record<string, string> }) =>
    !liveBuildIds.has(Number(object.Labels?.['hearth.build']));
  return {
    containers: containers.filter(isLeft).map((container) => container.Id),
    networks: networks.map((network) => network.Name).filter((name) => !isHeld(name)),
    volumes: (volumes ?? []).filter(isLeft).map((volume) => volume.Name),
  };
}

async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true, abortSignal: AbortSignal.timeout(limitMs) });
  } catch (error) {
    if (statusOf(error) === 404) return;
    // Somebody else is removing it already; the volume goes only after that.
    if (statusOf(error) !== 409) throw error;
    await container.wait({ condition: 'removed' }).catch(ignoreMissing);
  }
}

async function removeVolume(volume: Docker.Volume): Promise<void> {
  await volume.remove({ force: true, abortSignal: AbortSignal.timeout(limitMs) }).catch(ignoreMissing);
}

function ignoreMissing(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}
