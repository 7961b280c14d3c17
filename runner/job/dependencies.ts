import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildPayload, DependencyBuild } from '../../shared/protocol/build.ts';
import type { JobEnvironment } from '../executor/executor.ts';
import type { BuildApi } from './build-api.ts';
import { readZip } from './read-zip.ts';

/** Earlier builds whose artifacts this one gets: those it names, or all. */
export function wantedDependencies(
  build: Pick<BuildPayload, 'depends_on_builds' | 'options'>,
): DependencyBuild[] {
  const names = build.options.dependencies;
  return build.depends_on_builds.filter(
    (other) => Boolean(other.artifacts_file?.filename) && (names === undefined || names.includes(other.name)),
  );
}

export interface DependenciesRequest {
  dependencies: DependencyBuild[];
  environment: Pick<JobEnvironment, 'importFiles'>;
  api: Pick<BuildApi, 'downloadArtifacts'>;
  /** Directory on this host for the archives while they are unpacked. */
  temporary: string;
  notice(text: string): Promise<void>;
  signal: AbortSignal;
}

/**
 * Unpacks the artifacts of earlier builds into the project directory, in order: later ones win.
 *
 * @throws Error with a text for the trace.
 */
export async function downloadDependencies(request: DependenciesRequest): Promise<void> {
  const { environment, api, signal, temporary } = request;
  for (const { id, name, token } of request.dependencies) {
    await request.notice(`Downloading artifacts of ${name} (${id})…`);
    const file = join(temporary, `artifacts-${id}.zip`);
    try {
      await api.downloadArtifacts({ buildId: id, token, file, signal });
      await environment.importFiles(readZip(file), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`artifacts of ${name} (${id}): ${(error as Error).message}`, { cause: error });
    } finally {
      await rm(file, { force: true });
    }
  }
}
