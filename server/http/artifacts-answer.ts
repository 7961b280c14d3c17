import { nothingHere } from '../errors.ts';
import type { Work } from '../services.ts';
import { download, type StreamAnswer } from './answers.ts';

/** @throws AppError 404 when there are no artifacts, or their time is over. */
export async function openArtifacts(
  work: Work,
  build: { artifacts_key: string | null; artifacts_filename: string | null },
): Promise<StreamAnswer> {
  const blob = build.artifacts_key === null ? null : await work.storage.get(build.artifacts_key);
  if (!blob) throw nothingHere();
  return download(blob.stream, build.artifacts_filename ?? 'artifacts.zip', blob.size);
}
