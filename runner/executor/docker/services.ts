import type Docker from 'dockerode';
import { createContainer } from './container.ts';
import { engineCall, isLocal, messageOf } from './engine.ts';
import { plainLog } from './frames.ts';
import { type PortProbe, probeScript, waitForPort } from './health.ts';
import type { Attachment } from './network.ts';
import type { BuildScope } from './scope.ts';
import type { ServiceName } from './service-name.ts';

export interface ServiceSet {
  scope: BuildScope;
  attachment: Attachment;
  services: ServiceName[];
  /** Has a shell; tries the ports where this host cannot. */
  probeImage: string;
  /** Hears of every container, to remove it later. */
  created(id: string): void;
}

interface RunningService {
  name: ServiceName;
  container: Docker.Container;
}

type Health = 'open' | 'late' | 'ended' | 'no ports' | 'unknown';

const reasons: Record<Exclude<Health, 'open'>, string> = {
  late: 'did not open its port in time',
  ended: 'has ended',
  'no ports': 'exposes no port, so nothing tells when it is ready',
  unknown: 'cannot be checked from here',
};

/** As many ports of a service are tried. */
const mostPorts = 20;

/**
 * Starts the services and waits until each has an open port. A service that is not ready within the limit gets
 * a warning with the end of its log, and the job goes on.
 */
export async function startServices(set: ServiceSet): Promise<void> {
  const { request, options } = set.scope;
  const starts = set.services.map((name, index) => startService(set, name, index));
  const started = await Promise.allSettled(starts);
  const fault = started.find((result) => result.status === 'rejected');
  if (fault) throw fault.reason;
  request.signal.throwIfAborted();
  if (options.wait_for_services_timeout <= 0) return;
  await request.notice('Waiting for services to be up …');
  const running = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  await Promise.all(running.map((service) => awaitService(set, service)));
}

async function startService(set: ServiceSet, name: ServiceName, index: number): Promise<RunningService> {
  const { scope, attachment } = set;
  await scope.request.notice(`Starting service ${name.image} (${name.aliases.join(', ')}) …`);
  const container = await createContainer(scope, {
    role: `service-${index}`,
    image: name.image,
    variables: scope.request.variables.filter((variable) => variable.public),
    attachment,
    aliases: name.aliases,
    keepsLog: true,
  });
  set.created(container.id);
  await attachment.ready;
  await engineCall(scope.engine, `start service ${name.image}`, () => container.start());
  return { name, container };
}

async function awaitService(set: ServiceSet, service: RunningService): Promise<void> {
  const { engine, request } = set.scope;
  const health = await engineCall(engine, `check service ${service.name.image}`, () => check(set, service));
  if (health === 'open') return;
  const text = `Service ${service.name.image} ${reasons[health]}; the job goes on.`;
  const log = health === 'no ports' ? '' : await logTail(service.container);
  await request.warn(log === '' ? text : `${text} The end of its log:\n${log}`);
}

async function check(set: ServiceSet, { container }: RunningService): Promise<Health> {
  const { scope } = set;
  const info = await container.inspect();
  const ports = await wantedPorts(set, info);
  const address = addressOf(info);
  if (ports.length === 0) return 'no ports';
  if (!info.State.Running) return 'ended';
  if (address === undefined) return 'unknown';
  const limit = AbortSignal.timeout(scope.options.wait_for_services_timeout * 1000);
  const settled = new AbortController();
  const signal = AbortSignal.any([scope.request.signal, limit, settled.signal]);
  try {
    const ended = container.wait({ abortSignal: signal }).then((): Health => 'ended');
    return await Promise.race([ended, checkPorts(set, { address, ports }, signal)]);
  } catch (error) {
    scope.request.signal.throwIfAborted();
    if (limit.aborted) return 'late';
    throw error;
  } finally {
    settled.abort();
  }
}

async function checkPorts(set: ServiceSet, probe: PortProbe, signal: AbortSignal): Promise<Health> {
  if (isLocal(set.scope.engine) && (await waitForPort(probe, signal)) === 'open') return 'open';
  return await checkFromContainer(set, probe, signal);
}

/** For engines elsewhere, and for a runner that is itself in a container and so on another network. */
async function checkFromContainer(set: ServiceSet, probe: PortProbe, signal: AbortSignal): Promise<Health> {
  const { scope, attachment } = set;
  const seconds = scope.options.wait_for_services_timeout;
  const container = await createContainer(scope, {
    role: `probe-${probe.address.replaceAll(/\W/g, '-')}`,
    image: set.probeImage,
    variables: [],
    attachment,
    entrypoint: ['sh', '-c'],
    command: [probeScript(probe, seconds)],
    keepsLog: false,
  });
  set.created(container.id);
  signal.throwIfAborted();
  await container.start();
  const { StatusCode: code } = await container.wait({ abortSignal: signal });
  if (code === 0) return 'open';
  return code === 1 ? 'late' : 'unknown';
}

/** The port that the job names, else those that the image exposes. */
async function wantedPorts({ scope }: ServiceSet, info: Docker.ContainerInspectInfo): Promise<number[]> {
  const { variables, warn } = scope.request;
  const named = variables.findLast(({ key }) => key === 'HEALTHCHECK_TCP_PORT')?.value ?? '';
  if (named === '') return exposedPorts(info);
  const port = /^\d{1,5}$/.test(named) ? Number(named) : 0;
  if (port > 0 && port < 65_536) return [port];
  await warn(`HEALTHCHECK_TCP_PORT must be the number of a port, not "${named}"; it is ignored`);
  return exposedPorts(info);
}

function exposedPorts(info: Docker.ContainerInspectInfo): number[] {
  const names = Object.keys(info.Config.ExposedPorts ?? {});
  const ports = names.filter((name) => name.endsWith('/tcp')).map((name) => Number.parseInt(name, 10));
  return ports.sort((a, b) => a - b).slice(0, mostPorts);
}

function addressOf(info: Docker.ContainerInspectInfo): string | undefined {
  if (info.HostConfig.NetworkMode === 'host') return '127.0.0.1';
  return Object.values(info.NetworkSettings.Networks).find((network) => network.IPAddress)?.IPAddress;
}

async function logTail(container: Docker.Container): Promise<string> {
  try {
    return plainLog(await container.logs({ stdout: true, stderr: true, tail: 30 })).trimEnd();
  } catch (error) {
    return `(no log: ${messageOf(error)})`;
  }
}
