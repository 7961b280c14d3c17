import type {
  Executor,
  FileEntry,
  JobEnvironment,
  PrepareRequest,
  RunResult,
  ScriptRun,
} from './executor.ts';

/** What a scripted executor does at each point; everything left out succeeds at once. */
export interface Script {
  prepare?(request: PrepareRequest): Promise<void>;
  run?(run: ScriptRun): Promise<RunResult>;
  importFiles?(files: AsyncIterable<FileEntry>): Promise<void>;
  exportFiles?(roots: string[]): AsyncIterable<FileEntry>;
  cleanUp?(): Promise<void>;
  assertUsable?(): Promise<void>;
  removeLeftovers?(liveBuildIds: ReadonlySet<number>): Promise<void>;
}

export interface ScriptedExecutor extends Executor {
  /** Names of the calls, in order; runs are `run:script` and `run:after_script`. */
  readonly calls: string[];
  readonly programs: string[];
}

/** Runs nothing: plays faults and results, for tests of what is around an executor. */
export function createScriptedExecutor(script: Script = {}): ScriptedExecutor {
  const calls: string[] = [];
  const programs: string[] = [];
  const environment: JobEnvironment = {
    projectDir: '/builds/group/hello',
    variables: [],
    async importSources() {
      calls.push('importSources');
    },
    async importFiles(files) {
      calls.push('importFiles');
      await script.importFiles?.(files);
    },
    async run(run) {
      calls.push(`run:${run.kind}`);
      programs.push(run.script);
      return (await script.run?.(run)) ?? { exitCode: 0 };
    },
    exportFiles: (roots) => script.exportFiles?.(roots) ?? nothing(),
    async cleanUp() {
      calls.push('cleanUp');
      await script.cleanUp?.();
    },
  };
  return {
    name: 'scripted',
    calls,
    programs,
    async prepare(request) {
      calls.push('prepare');
      await script.prepare?.(request);
      return environment;
    },
    async assertUsable() {
      calls.push('assertUsable');
      await script.assertUsable?.();
    },
    async removeLeftovers(liveBuildIds) {
      calls.push('removeLeftovers');
      await script.removeLeftovers?.(liveBuildIds);
    },
    async close() {
      calls.push('close');
    },
  };
}

async function* nothing(): AsyncGenerator<FileEntry> {}

/** A script that runs until it is stopped. */
export function hang(run: ScriptRun): Promise<RunResult> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(run.signal.reason);
    if (run.signal.aborted) stop();
    else run.signal.addEventListener('abort', stop, { once: true });
  });
}
