import type { ArtifactOptions } from '../../shared/protocol/build.ts';
import type { BuildApi } from './build-api.ts';
import type { SelectedFiles } from './selected-files.ts';
import { writeZip } from './write-zip.ts';

/** Whether the archive is wanted after a script that ended like this. */
export function wantsArtifacts(options: ArtifactOptions | undefined, hasSucceeded: boolean): boolean {
  if (!options || !(options.paths?.length || options.untracked)) return false;
  const when = options.when ?? 'on_success';
  return when === 'always' || (when === 'on_success') === hasSucceeded;
}

/** Name of the archive, from the last part of the expanded `name`. */
export function archiveName(name: string | undefined): string {
  const last = (name ?? '').split('/').at(-1)?.trim();
  return `${!last || last === '.' || last === '..' ? 'artifacts' : last}.zip`;
}

export interface ArtifactsRequest {
  files: SelectedFiles;
  /** Expanded. */
  name: string | undefined;
  expireIn: string | undefined;
  api: Pick<BuildApi, 'uploadArtifacts'>;
  notice(text: string): Promise<void>;
  warn(text: string): void;
  signal: AbortSignal;
}

/**
 * Packs the files while they are being sent. When there is none, that is said and nothing is sent.
 *
 * @throws Error with a text for the trace.
 */
export async function uploadArtifacts(request: ArtifactsRequest): Promise<void> {
  const { files, warn } = request;
  if (await files.isEmpty()) {
    warn('No files to upload: none of the paths of the artifacts matches');
    return;
  }
  const filename = archiveName(request.name);
  await request.notice(`Uploading artifacts as ${filename}…`);
  await request.api.uploadArtifacts({
    filename,
    expireIn: request.expireIn,
    content: () => writeZip(files.entries()),
    signal: request.signal,
  });
  for (const pattern of files.unmatched()) warn(`${pattern}: no matching files`);
}
