import { randomBytes } from 'node:crypto';
import { type Engine, statusOf } from './engine.ts';
import { networkError, removeNetwork } from './network.ts';

/** A network for one build, until it is given back. */
export interface BuildNetwork {
  name: string;
  /** Fulfilled when containers may be started on it. They may be created before, which saves the time. */
  ready: Promise<void>;
}

/** As many networks wait for their next build; an engine has addresses for about thirty. */
const mostIdle = 2;

/** Networks of all pools of this process. Others that bear the runner's name are leftovers. */
const held = new Set<string>();

/** Whether a build of this process uses the network, or one may yet. */
export function isHeld(network: string): boolean {
  return held.has(network);
}

/**
 * Networks that builds use one after the other, never two at the same time: to make and to remove a network takes as
 * long as to start a container. Only one that no container is on any more goes to another build.
 */
export class NetworkPool {
  readonly #engine: Engine;
  readonly #runnerId: string;
  readonly #idle: string[] = [];
  #isClosed = false;

  constructor(engine: Engine, runnerId: string) {
    this.#engine = engine;
    this.#runnerId = runnerId;
  }

  /** One that is empty, or a new one in the making. */
  async take(): Promise<BuildNetwork> {
    for (let name = this.#idle.pop(); name !== undefined; name = this.#idle.pop()) {
      if (await this.#isEmpty(name)) return { name, ready: Promise.resolve() };
      await this.#remove(name);
    }
    const name = `hearth-${this.#runnerId}-network-${randomBytes(4).toString('hex')}`;
    held.add(name);
    const ready = this.#create(name);
    // Looked at before the first container is started; a fault must not count as unhandled until then.
    ready.catch(() => undefined);
    return { name, ready };
  }

  /** Keeps the network for another build, or removes it when it must not or need not be used again. */
  async giveBack({ name, ready }: BuildNetwork, isReusable: boolean): Promise<void> {
    // Until it is made it cannot be removed. When its making failed, the build has failed with that.
    await ready.catch(() => undefined);
    const isEmpty = isReusable && (await this.#isEmpty(name));
    if (isEmpty && !this.#isClosed && this.#idle.length < mostIdle) this.#idle.push(name);
    else await this.#remove(name);
  }

  /** Removes what waits; what is given back from now on is removed too. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((name) => this.#remove(name)));
  }

  async #create(name: string): Promise<void> {
    const labels = { 'hearth.runner': this.#runnerId, 'hearth.role': 'network' };
    try {
      await this.#engine.docker.createNetwork({ Name: name, Driver: 'bridge', Labels: labels });
    } catch (error) {
      throw networkError(this.#engine, error);
    }
  }

  /** False also for one that is gone, as after a change of the engine. */
  async #isEmpty(name: string): Promise<boolean> {
    try {
      const { Containers: attached = {} } = await this.#engine.docker.getNetwork(name).inspect();
      return Object.keys(attached).length === 0;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    }
  }

  /** One that cannot be removed now is a leftover from here on. */
  async #remove(name: string): Promise<void> {
    held.delete(name);
    await removeNetwork(this.#engine, name);
  }
}
