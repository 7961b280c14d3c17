import type Docker from 'dockerode';
import { expandVariables } from '../../../shared/variables.ts';
import type { DockerOptions } from '../docker-options.ts';
import type { Executor, JobEnvironment, PrepareRequest } from '../executor.ts';
import { ExecutorError } from '../executor-error.ts';
import { assertEngine, connectEngine, type Engine, engineCall } from './engine.ts';
import {
  createFilesContainer,
  createScriptContainer,
  DockerEnvironment,
  type DockerJob,
} from './environment.ts';
import { assertAllowed, ensureImage } from './image.ts';
import { launch } from './launch.ts';
import { attach } from './network.ts';
import { NetworkPool } from './network-pool.ts';
import { plannedObjects, removeObjects } from './objects.ts';
import { findLeftovers, removeAll } from './removal.ts';
import { buildScope } from './scope.ts';
import { assignAliases, type ServiceName } from './service-name.ts';
import { startServices } from './services.ts';

export type DockerExecutorOptions = DockerOptions & {
  /** Time between TERM and KILL when a script is aborted. */
  killGraceMs?: number;
};

/**
 * Runs builds in containers of a Docker engine. `runnerId` marks everything it makes; two runners on one engine
 * need different ones, or each would remove the builds of the other as leftovers.
 */
export function createDockerExecutor(options: DockerExecutorOptions, runnerId = 'default'): Executor {
  const engine = connectEngine(options.host);
  const pool = new NetworkPool(engine, runnerId);
  return {
    name: 'docker',
    prepare: (request) => prepare({ engine, options, runnerId, request, pool }),
    assertUsable: () => assertEngine(engine),
    async removeLeftovers(liveBuildIds) {
      await removeAll(engine, await findLeftovers(engine, runnerId, liveBuildIds));
    },
    close: () => engineCall(engine, 'remove a network', () => pool.close()),
  };
}

interface Preparation {
  engine: Engine;
  options: DockerExecutorOptions;
  runnerId: string;
  request: PrepareRequest;
  pool: NetworkPool;
}

async function prepare(preparation: Preparation): Promise<JobEnvironment> {
  const { engine, options, request, pool } = preparation;
  request.signal.throwIfAborted();
  const image = resolveImage(preparation);
  const services = await resolveServices(preparation);
  const scope = buildScope(preparation);
  const attachment = await engineCall(engine, 'get a network', () => attach(options.network_mode, pool));
  const objects = plannedObjects(scope, { pool, attachment });
  try {
    await request.notice(`Using image ${image}.`);
    const { Config: config } = await pullAll(preparation, image, services);
    const user = options.user ?? config.User;
    const job = { scope, objects, attachment, image, user, graceMs: options.killGraceMs ?? 10_000 };
    const { script, files } = await makeContainers(job, services);
    return new DockerEnvironment(job, files, await launch(engine, script));
  } catch (error) {
    await removeObjects(scope, objects).catch(() => undefined);
    throw error;
  }
}

interface JobContainers {
  script: Docker.Container;
  files: Docker.Container;
}

/** The containers of the job are made while the network is, and while the services get ready. */
async function makeContainers(job: DockerJob, services: ServiceName[]): Promise<JobContainers> {
  const { scope, objects, attachment, image } = job;
  const created = (id: string) => void objects.containers.add(id);
  const [script, files, network, ready] = await Promise.allSettled([
    createScriptContainer(job, 'build'),
    createFilesContainer(job),
    attachment.ready,
    services.length > 0 && startServices({ scope, attachment, services, probeImage: image, created }),
  ]);
  if (script.status === 'rejected') throw script.reason;
  if (files.status === 'rejected') throw files.reason;
  if (network.status === 'rejected') throw network.reason;
  if (ready.status === 'rejected') throw ready.reason;
  scope.request.signal.throwIfAborted();
  return { script: script.value, files: files.value };
}

async function pullAll(
  { engine, options, request }: Preparation,
  image: string,
  services: ServiceName[],
): Promise<Docker.ImageInspectInfo> {
  const ensure = (name: string) =>
    ensureImage({
      engine,
      image: name,
      policy: options.pull_policy,
      notice: request.notice,
      warn: request.warn,
      signal: request.signal,
    });
  const names = new Set(services.map((service) => service.image));
  const [info] = await Promise.all([ensure(image), ...[...names].map(ensure)]);
  return info;
}

function resolveImage({ options, request }: Preparation): string {
  const image = expand(request.build.options.image ?? options.image, request);
  if (image === '') {
    throw new ExecutorError('user', `The image of the job is empty: ${request.build.options.image}`);
  }
  const { allowed_images: patterns } = options;
  assertAllowed(image, { option: 'allowed_images', patterns, own: [options.image] });
  return image;
}

async function resolveServices({ options, request }: Preparation): Promise<ServiceName[]> {
  const ofJob = request.build.options.services ?? [];
  const images = [...options.services, ...ofJob].map((text) => expand(text, request));
  for (const image of images) {
    const { allowed_services: patterns } = options;
    assertAllowed(image, { option: 'allowed_services', patterns, own: options.services });
  }
  const warnings: string[] = [];
  const services = assignAliases(images, (text) => warnings.push(text));
  for (const text of warnings) await request.warn(text);
  return services;
}

function expand(text: string, { variables }: PrepareRequest): string {
  return expandVariables(text, (name) => variables.find(({ key }) => key === name)?.value).trim();
}
