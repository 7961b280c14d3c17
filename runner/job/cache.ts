import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import type { JobEnvironment } from '../executor/executor.ts';
import { readZip } from './read-zip.ts';
import type { SelectedFiles } from './selected-files.ts';
import { expandText, textVariable } from './variables.ts';
import { writeZip } from './write-zip.ts';

/** Bytes that the caches of one project may fill; the ones unused for longest go first. */
const maxProjectCache = 8 * 2 ** 30;
/** Milliseconds after which an archive nobody finished was left by a runner that died. */
const unfinishedLimit = 24 * 3_600_000;

export function wantsCache({ cache }: BuildPayload['options']): boolean {
  return Boolean(cache?.paths?.length || cache?.untracked);
}

/**
 * Key of the build's cache, or null for an empty one.
 *
 * @throws Error for a key that cannot be one.
 */
export function cacheKey(
  build: Pick<BuildPayload, 'name' | 'ref' | 'options'>,
  variables: BuildVariable[],
): string | null {
  return checkedKey(expandText(build.options.cache?.key ?? `${build.name}/${build.ref}`, variables));
}

/** Key of the cache that stands in for one that is not there yet. */
export function fallbackKey(variables: BuildVariable[]): string | null {
  return checkedKey(textVariable(variables, 'CACHE_FALLBACK_KEY') ?? '');
}

function checkedKey(text: string): string | null {
  const key = text.trim().replace(/^\/+/, '');
  if (key.split('/').includes('..')) throw new Error(`the key of a cache must not hold "..": ${text}`);
  return key || null;
}

/**
 * The archive of a key: a digest, since the key is any text. Builds of protected branches have caches of their own,
 * which those who may not push there cannot fill.
 */
export function cacheFile(directory: string, key: string, variables: BuildVariable[]): string {
  const isProtected = textVariable(variables, 'CI_COMMIT_REF_PROTECTED') === 'true';
  const digest = createHash('sha256').update(isProtected ? `protected\0${key}` : key);
  return join(directory, `${digest.digest('hex').slice(0, 32)}.zip`);
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

export interface CacheSave {
  file: string;
  files: SelectedFiles;
  signal: AbortSignal;
  /** Bytes for all archives of the project. */
  limit?: number;
}

/**
 * Replaces the archive in one step, so that builds at the same time see a whole one.
 *
 * @returns false when it alone is beyond the limit, and so not kept.
 */
export async function saveCache(save: CacheSave): Promise<boolean> {
  const { file, files, signal, limit = maxProjectCache } = save;
  const directory = dirname(file);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const aside = `${file}.${randomUUID()}.tmp`;
  try {
    await pipeline(writeZip(files.entries()), createWriteStream(aside, { mode: 0o600 }), { signal });
    await rename(aside, file);
  } finally {
    await rm(aside, { force: true });
  }
  await removeOldest(directory, limit);
  return (await stat(file).catch(() => null)) !== null;
}

interface StoredFile {
  path: string;
  size: number;
  mtimeMs: number;
}

async function removeOldest(directory: string, limit: number): Promise<void> {
  const stored = await storedFiles(directory);
  const tooOld = Date.now() - unfinishedLimit;
  let total = 0;
  for (const { path, size, mtimeMs } of stored.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    const isArchive = path.endsWith('.zip');
    if (isArchive) total += size;
    if (isArchive ? total > limit : mtimeMs < tooOld) await rm(path, { force: true });
  }
}

async function storedFiles(directory: string): Promise<StoredFile[]> {
  const found = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const path = join(directory, name);
      // Another build may have removed it meanwhile.
      const stats = await stat(path).catch(() => null);
      return stats?.isFile() ? [{ path, size: stats.size, mtimeMs: stats.mtimeMs }] : [];
    }),
  );
  return found.flat();
}
