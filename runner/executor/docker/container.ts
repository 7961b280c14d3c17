import type Docker from 'dockerode';
import type { BuildVariable } from '../../../shared/protocol/build.ts';
import type { DockerOptions } from '../docker-options.ts';
import { engineCall, statusOf } from './engine.ts';
import type { Place } from './network.ts';
import { type BuildScope, buildsDir, objectName, persistentVolumeName, scopeLabels } from './scope.ts';

export interface ContainerPlan {
  role: string;
  image: string;
  variables: BuildVariable[];
  attachment: Place;
  /** Host names on a network that gives names. */
  aliases?: string[];
  command?: string[];
  /** Whether its standard input can be written to. */
  hasInput?: boolean;
  entrypoint?: string[];
  user?: string;
  /** Whether the engine keeps the output; that of a script goes to the trace and nowhere else. */
  keepsLog: boolean;
}

/** The kernel refuses to start a program with a longer variable. */
const longestVariable = 128 * 1024 - 1;

/** Creates a container of a build, in place of one that an earlier process left under the same name. */
export async function createContainer(scope: BuildScope, plan: ContainerPlan): Promise<Docker.Container> {
  const { engine, request } = scope;
  const name = objectName(request.slotName, plan.role);
  const settings = { name, ...containerSettings(scope, plan) };
  return await engineCall(engine, `create container ${name}`, async () => {
    try {
      return await engine.docker.createContainer(settings);
    } catch (error) {
      if (statusOf(error) !== 409) throw error;
      await engine.docker.getContainer(name).remove({ force: true, v: true });
      return await engine.docker.createContainer(settings);
    }
  });
}

function containerSettings(scope: BuildScope, plan: ContainerPlan): Docker.ContainerCreateOptions {
  const { network, hasAliases } = plan.attachment;
  const endpoint = { Aliases: plan.aliases };
  return {
    Image: plan.image,
    Cmd: plan.command,
    Entrypoint: plan.entrypoint,
    User: plan.user,
    Env: environment(plan.variables),
    Labels: scopeLabels(scope, plan.role),
    AttachStdin: plan.hasInput,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: plan.hasInput,
    StdinOnce: plan.hasInput,
    Tty: false,
    HostConfig: hostConfig(scope, plan),
    ...(hasAliases && plan.aliases ? { NetworkingConfig: { EndpointsConfig: { [network]: endpoint } } } : {}),
  };
}

function hostConfig(scope: BuildScope, plan: ContainerPlan): Docker.HostConfig {
  const { options } = scope;
  return {
    ...limits(options),
    NetworkMode: plan.attachment.network,
    Privileged: options.privileged,
    // A privileged container has every right there is; the flag would only break the engine inside it.
    SecurityOpt: options.privileged ? [] : ['no-new-privileges'],
    CapAdd: options.cap_add,
    CapDrop: options.cap_drop,
    Dns: options.dns,
    ExtraHosts: options.extra_hosts,
    Mounts: [buildsMount(scope), ...persistentMounts(scope)],
    Binds: options.volumes.filter((volume) => volume.includes(':')),
    LogConfig: plan.keepsLog
      ? { Type: 'json-file', Config: { 'max-size': '1m' } }
      : { Type: 'none', Config: {} },
  };
}

function limits({ memory, cpus, pids_limit, shm_size }: DockerOptions): Docker.HostConfig {
  return {
    // The same value for both leaves no swap; otherwise the engine would allow twice the memory.
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: cpus === undefined ? undefined : Math.round(cpus * 1e9),
    PidsLimit: pids_limit,
    ShmSize: shm_size,
  };
}

function buildsMount(scope: BuildScope): Docker.MountSettings {
  return {
    Type: 'volume',
    Source: scope.volumeName,
    Target: buildsDir,
    VolumeOptions: volumeOptions(true, scopeLabels(scope, 'builds')),
  };
}

function persistentMounts(scope: BuildScope): Docker.MountSettings[] {
  const labels = {
    'hearth.runner': scope.runnerId,
    'hearth.role': 'cache',
    'hearth.project': String(scope.request.build.project_id),
  };
  const paths = scope.options.volumes.filter((volume) => !volume.includes(':'));
  return paths.map((path) => ({
    Type: 'volume',
    Source: persistentVolumeName(scope, path),
    Target: path,
    VolumeOptions: volumeOptions(false, labels),
  }));
}

function volumeOptions(
  noCopy: boolean,
  labels: Record<string, string>,
): NonNullable<Docker.MountSettings['VolumeOptions']> {
  return { NoCopy: noCopy, Labels: labels, DriverConfig: { Name: 'local', Options: {} } };
}

function environment(variables: BuildVariable[]): string[] {
  const usable = variables.filter(
    ({ key, value }) => key !== '' && !/[=\0]/.test(key) && !value.includes('\0'),
  );
  return usable
    .map(({ key, value }) => `${key}=${value}`)
    .filter((entry) => Buffer.byteLength(entry) <= longestVariable);
}
