import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Executor, JobEnvironment, PrepareRequest } from '../executor.ts';
import { ExecutorError } from '../executor-error.ts';
import { removePath } from './files.ts';
import { importFiles } from './import-files.ts';
import { endProcesses, processesWith } from './processes.ts';
import { runProgram } from './run-program.ts';
import { walkFiles } from './walk-files.ts';

export interface ShellOptions {
  /** Tells this runner's processes from those of others on the machine. */
  label: string;
  /** The only variables of this host that jobs get: PATH, HOME, LANG and the like. */
  environment: Record<string, string>;
}

/** Carries `<label>/<build id>` in the environment of every process of a job. */
const markName = 'HEARTH_JOB';

/** Runs jobs on this host, as this user, in the working copy itself. */
export function createShellExecutor(options: ShellOptions): Executor {
  return {
    name: 'shell',
    prepare: (request) => prepare(request, options),
    // What it needs is looked for anew by every build.
    assertUsable: async () => {},
    close: async () => {},
    async removeLeftovers(liveBuildIds) {
      const start = `${markName}=${options.label}/`;
      const isLeft = (entry: string) =>
        entry.startsWith(start) && !liveBuildIds.has(Number(entry.slice(start.length)));
      await endProcesses(() => processesWith(isLeft));
    },
  };
}

async function prepare(request: PrepareRequest, options: ShellOptions): Promise<JobEnvironment> {
  const { build, hostProjectDir } = request;
  const shell = await findShell(options.environment.PATH ?? '');
  await request.notice(`Running on this host with ${shell}, unisolated`);
  if (build.options.image !== undefined)
    await request.warn('The shell executor takes no image; it is ignored');
  if (build.options.services?.length) await request.warn('The shell executor starts no services');
  const temporary = `${hostProjectDir}.tmp`;
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  const mark = `${markName}=${options.label}/${build.id}`;
  const environment = { ...options.environment, [markName]: mark.slice(markName.length + 1) };
  const findStrays = () => processesWith((entry) => entry === mark);
  return {
    projectDir: hostProjectDir,
    variables: [
      { key: 'CI_DISPOSABLE_ENVIRONMENT', value: 'false', public: true },
      { key: 'CI_SHARED_ENVIRONMENT', value: 'true', public: true },
    ],
    // The working copy is where the commands run already.
    importSources: async () => {},
    importFiles: (files, signal) => importFiles({ directory: hostProjectDir, files, signal }),
    run: (run) =>
      runProgram({ ...run, shell, directory: hostProjectDir, temporary, environment, findStrays }),
    exportFiles: (roots, warn) => walkFiles({ directory: hostProjectDir, roots, warn }),
    async cleanUp() {
      await endProcesses(findStrays);
      await removePath(temporary);
    },
  };
}

/** Path of bash, or of sh where there is no bash. */
async function findShell(searchPath: string): Promise<string> {
  const directories = [...searchPath.split(delimiter).filter((part) => part !== ''), '/usr/bin', '/bin'];
  for (const name of ['bash', 'sh']) {
    for (const directory of directories) {
      const path = join(directory, name);
      const isThere = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return path;
    }
  }
  throw new ExecutorError('system', 'there is neither bash nor sh on this host');
}
