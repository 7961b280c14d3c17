import type { Readable } from 'node:stream';
import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';

/** One file, directory or symbolic link below the project directory. Paths are relative, with `/`. */
export interface FileEntry {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Permission bits, such as 0o644. */
  mode: number;
  mtime: Date;
  /** Bytes; 0 for directories and links. */
  size: number;
  linkTarget?: string;
  /** Content of a file. Must be read to its end, or destroyed, before the next entry is asked for. */
  content?: Readable;
}

/** How a script came to its end. */
export interface RunResult {
  /** Exit code of the shell; 128+n when signal n ended it. */
  exitCode: number;
  /** True when the engine killed the script because its memory limit was reached. */
  outOfMemory?: boolean;
}

export interface ScriptRun {
  kind: 'script' | 'after_script';
  /** Complete shell program made by job/script.ts; it sets the variables and changes to the project directory. */
  script: string;
  /** Receives stdout and stderr as they come, in order. Its promise is awaited before more is read. */
  output(chunk: Buffer): Promise<void>;
  /** When it fires, the script and all that it started are ended: TERM, 10 s of grace, KILL. `run` then rejects. */
  signal: AbortSignal;
}

/** What a prepared build runs in. Owned by one build; methods are called one after the other. */
export interface JobEnvironment {
  /** The project directory as the job's commands see it (CI_PROJECT_DIR). */
  readonly projectDir: string;
  /** Variables that only the executor knows, such as CI_DISPOSABLE_ENVIRONMENT. */
  readonly variables: BuildVariable[];
  /** Brings the checked-out working copy on this host into the project directory. */
  importSources(hostDir: string, signal: AbortSignal): Promise<void>;
  /** Writes files into the project directory, over what is there. Entries were checked by the caller. */
  importFiles(files: AsyncIterable<FileEntry>, signal: AbortSignal): Promise<void>;
  /** Runs one shell program to its end. A non-zero exit code is a result, not an error. */
  run(run: ScriptRun): Promise<RunResult>;
  /**
   * All entries at or below each of `roots` (relative paths; `''` is the project directory itself), sorted
   * within a root. A root that does not exist gives nothing. Devices, sockets and pipes are reported to `warn`
   * and left out, and so is everything that a link or `..` would take out of the project directory.
   */
  exportFiles(roots: string[], warn: (text: string) => void): AsyncIterable<FileEntry>;
  /** Removes everything that was made for this build. Safe to call twice and after any failure. */
  cleanUp(): Promise<void>;
}

export interface PrepareRequest {
  build: BuildPayload;
  /** Directory on this host that holds the working copy of this slot. */
  hostProjectDir: string;
  /** All variables of the build, expanded. */
  variables: BuildVariable[];
  /** Short name that is unique among builds running at the same time, for names of containers. */
  slotName: string;
  /** Lines for the trace, such as "Pulling image …". */
  notice(text: string): Promise<void>;
  warn(text: string): Promise<void>;
  signal: AbortSignal;
}

/** Where builds run. Implementations: docker, shell, and scripted for tests. */
export interface Executor {
  readonly name: string;
  /** Makes everything ready for the sources: image, network, services, containers. */
  prepare(request: PrepareRequest): Promise<JobEnvironment>;
  /** Rejects, with the reason, when no build can be run at present. */
  assertUsable(): Promise<void>;
  /** Removes what earlier processes left behind, except for builds in `liveBuildIds`. */
  removeLeftovers(liveBuildIds: ReadonlySet<number>): Promise<void>;
  /** Removes what it keeps between builds; called when no more come. */
  close(): Promise<void>;
}
