import type { JobEnvironment } from '../executor/executor.ts';
import { uploadArtifacts, wantsArtifacts } from './artifacts.ts';
import { withAttempts } from './attempts.ts';
import { attemptsVariable } from './control-variables.ts';
import { downloadDependencies, wantedDependencies } from './dependencies.ts';
import { inSection, type Job } from './job.ts';
import { selectedFiles } from './selected-files.ts';
import { gitStrategy } from './source-settings.ts';
import { fetchSources, listTracked } from './sources.ts';
import { expandText, resolveVariables, textVariable } from './variables.ts';

const prepareAttempts = 3;

export function prepareExecutor(job: Job): Promise<JobEnvironment> {
  const { request, build, variables, signal } = job;
  const { shortToken, projectSlot } = request.runner;
  return inSection(job, 'prepare_executor', () =>
    withAttempts(attempts(job, prepareAttempts), () =>
      request.executor.prepare({
        build,
        hostProjectDir: request.directories.project,
        variables,
        slotName: `runner-${shortToken}-project-${build.project_id}-concurrent-${projectSlot}`,
        notice: job.notice,
        warn: async (text) => job.warn(text),
        signal,
      }),
    ),
  );
}

/** For a step that is repeated, with a word in the trace each time. */
export function attempts(job: Job, count: number) {
  return {
    count,
    pause: job.request.timing.stepRetry,
    signal: job.signal,
    onFailure: async (error: Error) => job.warn(`${error.message}; trying again`),
  };
}

/** @returns the paths in the commit when a later step has to tell them from the job's own, else null. */
export function getSources(job: Job, environment: JobEnvironment): Promise<ReadonlySet<string> | null> {
  const { request, build, variables, signal } = job;
  const { artifacts, cache } = build.options;
  const sources = {
    build,
    variables,
    directory: request.directories.project,
    environment: request.hostEnvironment,
    notice: job.notice,
    warn: job.warn,
    signal,
  };
  return inSection(job, 'get_sources', async () => {
    const count = attemptsVariable({ variables, key: 'GET_SOURCES_ATTEMPTS', warn: job.warn });
    await withAttempts(attempts(job, count), () => fetchSources(sources));
    await environment.importSources(sources.directory, signal);
    if (!artifacts?.untracked && !cache?.untracked) return null;
    return gitStrategy(sources) === 'none' ? new Set<string>() : listTracked(sources);
  });
}

export async function downloadArtifactsStep(job: Job, environment: JobEnvironment): Promise<void> {
  const dependencies = wantedDependencies(job.build);
  if (dependencies.length === 0) return;
  const { variables, warn, notice, signal, request } = job;
  const { api, directories } = request;
  await inSection(job, 'download_artifacts', () => {
    const count = attemptsVariable({ variables, key: 'ARTIFACT_DOWNLOAD_ATTEMPTS', warn });
    const download = {
      dependencies,
      environment,
      api,
      temporary: directories.temporary,
      notice,
      signal,
    };
    return withAttempts(attempts(job, count), () => downloadDependencies(download));
  });
}

export interface ArchiveInput {
  environment: JobEnvironment;
  tracked: ReadonlySet<string> | null;
}

/** @throws Error with a text for the trace. */
export async function uploadArtifactsStep(
  job: Job,
  input: ArchiveInput,
  hasSucceeded: boolean,
): Promise<void> {
  const options = job.build.options.artifacts;
  if (!options || !wantsArtifacts(options, hasSucceeded)) return;
  const section = hasSucceeded ? 'upload_artifacts_on_success' : 'upload_artifacts_on_failure';
  await inSection(job, section, () =>
    uploadArtifacts({
      files: selection(job, input, options),
      name: options.name === undefined ? undefined : expandText(options.name, job.variables),
      expireIn: options.expire_in,
      api: job.request.api,
      notice: job.notice,
      warn: job.warn,
      signal: job.signal,
    }),
  );
}

/** The files that the options of an archive name. */
export function selection(job: Job, input: ArchiveInput, options: { paths?: string[]; untracked?: boolean }) {
  return selectedFiles({
    environment: input.environment,
    paths: (options.paths ?? []).map((path) => expandText(path, job.variables)),
    tracked: options.untracked ? input.tracked : null,
    warn: job.warn,
  });
}

/** The variables as the job's commands see them, now that the executor is known. */
export function jobVariables(environment: JobEnvironment, given: Job['variables']): Job['variables'] {
  const directory = { key: 'CI_PROJECT_DIR', value: environment.projectDir, public: true };
  const groups = textVariable(given, 'CI_PROJECT_PATH')?.split('/').length ?? 2;
  const root = environment.projectDir.split('/').slice(0, -groups).join('/') || '/';
  const builds = { key: 'CI_BUILDS_DIR', value: root, public: true };
  return resolveVariables([builds], given, environment.variables, [directory]);
}
