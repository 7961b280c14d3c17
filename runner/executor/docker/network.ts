import { type Engine, engineCall, statusOf } from './engine.ts';
import { type BuildScope, objectName, scopeLabels } from './scope.ts';

/** Where a container is attached. */
export interface Attachment {
  /** Id of a network, or a network mode of the engine. */
  network: string;
  /** False for networks on which the engine gives no names to containers. */
  hasAliases: boolean;
  /** True when it was made for one build and goes with it. */
  isOwn: boolean;
}

const isolatedName = 'hearth-isolated';

/**
 * The network of a build. With services it is a bridge made for this build. Without, making and removing one
 * would cost a quarter of a second for nothing: such builds share one network of the engine on which containers
 * cannot reach each other. A network mode of the configuration takes the place of both.
 */
export async function openNetwork(scope: BuildScope, hasServices: boolean): Promise<Attachment> {
  const { engine, options } = scope;
  if (options.network_mode) {
    const hasAliases = !/^(default|bridge|host|none|container:.*)$/.test(options.network_mode);
    return { network: options.network_mode, hasAliases, isOwn: false };
  }
  if (!hasServices) return { network: await isolatedNetwork(engine), hasAliases: false, isOwn: false };
  return { network: await createBuildNetwork(scope), hasAliases: true, isOwn: true };
}

/** Name under which the network of a build is made; it may not exist. */
export function buildNetworkName(scope: BuildScope): string {
  return objectName(scope.request.slotName, 'network');
}

/** Removes the network of a build, with containers that are still on it. One that is not there is no fault. */
export async function removeNetwork(engine: Engine, idOrName: string, signal?: AbortSignal): Promise<void> {
  const network = engine.docker.getNetwork(idOrName);
  try {
    await network.remove({ abortSignal: signal });
  } catch (error) {
    if (statusOf(error) === 404) return;
    if (statusOf(error) !== 403) throw error;
    const { Labels: labels = {} } = await network.inspect();
    // By label: one that is just being started does not count as attached, but will be.
    const label = ['runner', 'slot', 'build'].map((key) => `hearth.${key}=${labels[`hearth.${key}`]}`);
    for (const { Id } of await engine.docker.listContainers({ all: true, filters: { label } })) {
      await engine.docker.getContainer(Id).remove({ force: true, v: true });
    }
    await network.remove({ abortSignal: signal });
  }
}

async function createBuildNetwork(scope: BuildScope): Promise<string> {
  const { engine } = scope;
  const settings = {
    Name: buildNetworkName(scope),
    Driver: 'bridge',
    CheckDuplicate: true,
    Labels: scopeLabels(scope, 'network'),
  };
  return await engineCall(engine, 'create the network of the build', async () => {
    try {
      return (await engine.docker.createNetwork(settings)).id;
    } catch (error) {
      if (statusOf(error) !== 409) throw error;
      await removeNetwork(engine, settings.Name);
      return (await engine.docker.createNetwork(settings)).id;
    }
  });
}

async function isolatedNetwork(engine: Engine): Promise<string> {
  return await engineCall(engine, `create the network ${isolatedName}`, async () => {
    const existing = await findIsolated(engine);
    if (existing) return existing;
    try {
      const network = await engine.docker.createNetwork({
        Name: isolatedName,
        Driver: 'bridge',
        CheckDuplicate: true,
        Labels: { 'hearth.role': 'isolated' },
        Options: { 'com.docker.network.bridge.enable_icc': 'false' },
      });
      return network.id;
    } catch (error) {
      // Another build may have been faster.
      const made = statusOf(error) === 409 ? await findIsolated(engine) : undefined;
      if (made) return made;
      throw error;
    }
  });
}

async function findIsolated(engine: Engine): Promise<string | undefined> {
  const networks = await engine.docker.listNetworks({ filters: { name: [isolatedName] } });
  // The filter of the engine also finds longer names. Two of the same name can only come from a race.
  const exact = networks.filter((network) => network.Name === isolatedName).map((network) => network.Id);
  return exact.sort()[0];
}
