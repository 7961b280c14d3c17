import type Docker from 'dockerode';
import type { BuildVariable } from '../../../shared/protocol/build.ts';
import type { FileEntry, JobEnvironment, RunResult, ScriptRun } from '../executor.ts';
import { putEntries } from './archive-in.ts';
import { exportRoot } from './archive-out.ts';
import { createContainer } from './container.ts';
import type { Attachment } from './network.ts';
import { containerOwner } from './owner.ts';
import { removeAll } from './removal.ts';
import { type BuildScope, buildsDir } from './scope.ts';
import { runScript, scriptCommand } from './script-run.ts';
import { addParents, addTree, type Owner } from './sources.ts';

/** Everything on the engine that belongs to one build. */
export interface BuildObjects {
  containers: Set<string>;
  networks: Set<string>;
  volumes: Set<string>;
}

export interface DockerJob {
  scope: BuildScope;
  objects: BuildObjects;
  attachment: Attachment;
  image: string;
  /** User the containers run as, as an image names it. */
  user: string | undefined;
  graceMs: number;
}

/** Creates a container for a script; it is started when the script is there. */
export async function createScriptContainer(job: DockerJob, role: string): Promise<Docker.Container> {
  const { scope, attachment } = job;
  const container = await createContainer(scope, {
    role,
    image: job.image,
    variables: [...scope.request.variables, ...ownVariables(scope)],
    attachment,
    command: scriptCommand,
    user: scope.options.user,
    keepsLog: false,
  });
  job.objects.containers.add(container.id);
  return container;
}

/** A prepared build in Docker. Each script gets its own container, on the same volume and network. */
export class DockerEnvironment implements JobEnvironment {
  readonly projectDir: string;
  readonly variables: BuildVariable[];
  private readonly job: DockerJob;
  /** Gives access to the volume, before it runs and after it has ended. */
  private container: Docker.Container;
  private isFresh = true;
  private owner: Promise<Owner> | undefined;

  constructor(job: DockerJob, container: Docker.Container) {
    this.job = job;
    this.container = container;
    this.projectDir = job.scope.projectDir;
    this.variables = ownVariables(job.scope);
  }

  async importSources(hostDir: string, signal: AbortSignal): Promise<void> {
    const owner = await this.fileOwner();
    const name = this.projectDir.slice(buildsDir.length + 1);
    await this.put(buildsDir, signal, async (add) => {
      await addParents(add, name, owner);
      await addTree(add, { from: hostDir, to: name, owner, signal });
    });
  }

  async importFiles(files: AsyncIterable<FileEntry>, signal: AbortSignal): Promise<void> {
    const owner = await this.fileOwner();
    await this.put(this.projectDir, signal, async (add) => {
      for await (const file of files) {
        signal.throwIfAborted();
        const { path: name, type, mode, mtime, size, linkTarget: linkname } = file;
        await add({ name, type, mode, mtime, size, linkname, ...owner }, file.content);
      }
    });
  }

  async run(run: ScriptRun): Promise<RunResult> {
    run.signal.throwIfAborted();
    if (!this.isFresh) this.container = await createScriptContainer(this.job, run.kind.replace('_', '-'));
    this.isFresh = false;
    const { scope, graceMs } = this.job;
    return await runScript({ engine: scope.engine, container: this.container, graceMs }, run);
  }

  async *exportFiles(roots: string[], warn: (text: string) => void): AsyncGenerator<FileEntry> {
    const source = {
      engine: this.job.scope.engine,
      container: this.container,
      projectDir: this.projectDir,
      warn,
    };
    for (const root of roots) yield* exportRoot(source, root);
  }

  async cleanUp(): Promise<void> {
    await removeObjects(this.job.scope, this.job.objects);
  }

  private async put(path: string, signal: AbortSignal, fill: Parameters<typeof putEntries>[0]['fill']) {
    const { engine } = this.job.scope;
    await putEntries({ engine, container: this.container, path, signal, fill });
  }

  private fileOwner(): Promise<Owner> {
    this.owner ??= containerOwner(this.job.scope.engine, this.container, this.job.user);
    return this.owner;
  }
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

function ownVariables({ projectDir }: BuildScope): BuildVariable[] {
  return [
    { key: 'CI_DISPOSABLE_ENVIRONMENT', value: 'true', public: true },
    { key: 'CI_PROJECT_DIR', value: projectDir, public: true },
  ];
}
