import type Docker from 'dockerode';
import type { BuildVariable } from '../../../shared/protocol/build.ts';
import type { FileEntry, JobEnvironment, RunResult, ScriptRun } from '../executor.ts';
import { type ArchiveUpload, putEntries } from './archive-in.ts';
import { exportRoot } from './archive-out.ts';
import { createContainer } from './container.ts';
import { type Launch, launch, scriptCommand } from './launch.ts';
import type { Attachment } from './network.ts';
import { type BuildObjects, removeObjects } from './objects.ts';
import { containerOwner } from './owner.ts';
import { type BuildScope, buildsDir } from './scope.ts';
import { runScript } from './script-run.ts';
import { addParents, addTree, type Owner } from './sources.ts';

export interface DockerJob {
  scope: BuildScope;
  objects: BuildObjects;
  attachment: Attachment;
  image: string;
  /** User the containers run as, as an image names it. */
  user: string | undefined;
  graceMs: number;
}

/** A container for one script; `launch` starts it. */
export async function createScriptContainer(job: DockerJob, role: string): Promise<Docker.Container> {
  const { scope, attachment } = job;
  const container = await createContainer(scope, {
    role,
    image: job.image,
    variables: [...scope.request.variables, ...ownVariables(scope)],
    attachment,
    command: scriptCommand,
    hasInput: true,
    user: scope.options.user,
    keepsLog: false,
  });
  job.objects.containers.add(container.id);
  return container;
}

/**
 * A container that is never started and gives access to the volume of the build. One that is being started would
 * keep every archive waiting until it runs.
 */
export async function createFilesContainer(job: DockerJob): Promise<Docker.Container> {
  const container = await createContainer(job.scope, {
    role: 'files',
    image: job.image,
    variables: [],
    attachment: { network: 'none', hasAliases: false },
    command: ['true'],
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
  private readonly files: Docker.Container;
  /** Waits for the first script. */
  private prepared: Launch | undefined;
  private owner: Promise<Owner> | undefined;

  constructor(job: DockerJob, files: Docker.Container, prepared: Launch) {
    this.job = job;
    this.files = files;
    this.prepared = prepared;
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
    const { scope, graceMs } = this.job;
    const place = this.prepared ?? (await this.launchAnother(run.kind));
    this.prepared = undefined;
    return await runScript({ engine: scope.engine, launch: place, graceMs }, run);
  }

  async *exportFiles(roots: string[], warn: (text: string) => void): AsyncGenerator<FileEntry> {
    const { projectDir, files: container } = this;
    const source = { engine: this.job.scope.engine, container, projectDir, warn };
    for (const root of roots) yield* exportRoot(source, root);
  }

  async cleanUp(): Promise<void> {
    this.prepared?.close();
    await removeObjects(this.job.scope, this.job.objects);
  }

  private async launchAnother(kind: ScriptRun['kind']): Promise<Launch> {
    const container = await createScriptContainer(this.job, kind.replace('_', '-'));
    return await launch(this.job.scope.engine, container);
  }

  /** From the root on, since an engine refuses links that lead out of the directory it unpacks into. */
  private async put(path: string, signal: AbortSignal, fill: ArchiveUpload['fill']): Promise<void> {
    await putEntries({
      engine: this.job.scope.engine,
      container: this.files,
      path: '/',
      signal,
      fill: (add) =>
        fill((header, content) => add({ ...header, name: `${path.slice(1)}/${header.name}` }, content)),
    });
  }

  private fileOwner(): Promise<Owner> {
    this.owner ??= containerOwner(this.job.scope.engine, this.files, this.job.user);
    return this.owner;
  }
}

function ownVariables({ projectDir }: BuildScope): BuildVariable[] {
  return [
    { key: 'CI_DISPOSABLE_ENVIRONMENT', value: 'true', public: true },
    { key: 'CI_PROJECT_DIR', value: projectDir, public: true },
  ];
}
