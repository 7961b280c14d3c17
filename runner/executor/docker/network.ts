import type Docker from 'dockerode';
import { ExecutorError } from '../executor-error.ts';
import { type Engine, engineError, messageOf, statusOf } from './engine.ts';
import type { BuildNetwork, NetworkPool } from './network-pool.ts';

/** Where a container is attached. */
export interface Place {
  /** Name of a network, or a network mode of the engine. */
  network: string;
  /** False for networks on which the engine gives no names to containers. */
  hasAliases: boolean;
}

/** Where the containers of a build are attached. */
export interface Attachment extends Place {
  /** Fulfilled when containers may be started on it. */
  ready: Promise<void>;
  /** Null for a network mode of the configuration. */
  own: BuildNetwork | null;
}

/**
 * Gets the network of a build: a bridge that no other build is on at the same time, so that builds cannot reach each
 * other and services go by their names. A network mode of the configuration takes its place.
 */
export async function attach(mode: string | undefined, pool: NetworkPool): Promise<Attachment> {
  if (!mode) {
    const own = await pool.take();
    return { network: own.name, hasAliases: true, ready: own.ready, own };
  }
  const hasAliases = !/^(default|bridge|host|none|container:.*)$/.test(mode);
  return { network: mode, hasAliases, ready: Promise.resolve(), own: null };
}

/** Milliseconds; a removal that takes longer is broken off, or a hung engine would hold the slot for ever. */
const removalLimit = 60_000;

/**
 * Removes the network of a build. One that is not there is no fault. Containers that others have put on it,
 * such as a job that may use the engine, are taken off it and stay.
 */
export async function removeNetwork(engine: Engine, name: string): Promise<void> {
  const signal = AbortSignal.timeout(removalLimit);
  const network = engine.docker.getNetwork(name);
  try {
    await network.remove({ abortSignal: signal });
  } catch (error) {
    if (statusOf(error) === 404) return;
    if (statusOf(error) !== 403) throw error;
    await disconnectAll(network, signal);
    await network.remove({ abortSignal: signal }).catch(ignoreMissing);
  }
}

async function disconnectAll(network: Docker.Network, abortSignal: AbortSignal): Promise<void> {
  const { Containers: attached = {} } = await network.inspect();
  // By name: the engine also knows what a container that is gone has left on the network by its name.
  for (const { Name: Container } of Object.values(attached)) {
    await network.disconnect({ Container, Force: true, abortSignal }).catch(ignoreMissing);
  }
}

function ignoreMissing(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}

/** A refusal to make a network as an ExecutorError; one for want of addresses says how to get some. */
export function networkError(engine: Engine, error: unknown): unknown {
  const fault = engineError(engine, 'create the network of the build', error);
  // Engines have two wordings; both speak of address pools.
  if (statusOf(error) === undefined || !/address pool/i.test(messageOf(error))) return fault;
  const text =
    `The Docker engine at ${engine.host} has no address range left for the network of this build. ` +
    'Let fewer builds run at the same time, remove unused networks ("docker network prune"), ' +
    'give the engine more ranges (default-address-pools in its daemon.json), ' +
    `or set network_mode for this runner. The engine says: ${messageOf(error)}`;
  return new ExecutorError('system', text, { cause: error });
}
