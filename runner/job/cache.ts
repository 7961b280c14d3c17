import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import type { JobEnvironment } from '../executor/executor.ts';
import { readZip } from './read-zip.ts';
import type { SelectedFiles } from './selected-files.ts';
import { expandText } from './variables.ts';
import { writeZip } from './write-zip.ts';

/** Bytes that the caches of one project may fill; the ones unused for longest go first. */
const maxProjectCache = 8 * 2 ** 30;

/** Key of the build's cache, or null when it keeps none. */
export function cacheKey(
  build: Pick<BuildPayload, 'name' | 'ref' | 'options'>,
  variables: BuildVariable[],
): string | null {
  const { cache } = build.options;
  if (!cache || !(cache.paths?.length || cache.untracked)) return null;
  return expandText(cache.key ?? `${build.name}/${build.ref}`, variables) || null;
}

/** The archive of a key: a digest, since the key is any text. */
export function cacheFile(projectCacheDir: string, key: string): string {
  return join(projectCacheDir, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.zip`);
}

/** @returns whether there was a cache. */
export async function restoreCache(
  file: string,
  environment: Pick<JobEnvironment, 'importFiles'>,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await stat(file).catch(() => null)) === null) return false;
  await environment.importFiles(readZip(file), signal);
  const now = new Date();
  await utimes(file, now, now);
  return true;
}

/** Replaces the archive in one step, so that builds at the same time see a whole one. */
export async function saveCache(file: string, files: SelectedFiles, signal: AbortSignal): Promise<void> {
  const directory = join(file, '..');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const aside = `${file}.${randomUUID()}.tmp`;
  try {
    await pipeline(writeZip(files.entries()), createWriteStream(aside, { mode: 0o600 }), { signal });
    await rename(aside, file);
  } finally {
    await rm(aside, { force: true });
  }
  await removeOldest(directory, maxProjectCache);
}

async function removeOldest(directory: string, limit: number): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.zip'));
  const archives = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      const { size, mtimeMs } = await stat(path);
      return { path, size, mtimeMs };
    }),
  );
  let total = 0;
  for (const archive of archives.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    total += archive.size;
    if (total > limit) await rm(archive.path, { force: true });
  }
}
