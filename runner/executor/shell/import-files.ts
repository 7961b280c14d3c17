import { chmod, lutimes, mkdir, open, symlink, utimes } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FileEntry } from '../executor.ts';
import { kindOf, removePath, safeJoin } from './files.ts';

export interface ImportRequest {
  directory: string;
  files: AsyncIterable<FileEntry>;
  signal: AbortSignal;
}

/**
 * Writes entries over what is there.
 *
 * @throws Error when an entry would be written through a link.
 */
export async function importFiles({ directory, files, signal }: ImportRequest): Promise<void> {
  await mkdir(directory, { recursive: true });
  for await (const entry of files) {
    signal.throwIfAborted();
    const path = safeJoin(directory, entry.path);
    if (path === directory) continue;
    await makeParents(directory, dirname(path));
    await writers[entry.type](path, entry, signal);
  }
}

async function makeParents(directory: string, parent: string): Promise<void> {
  let path = directory;
  for (const part of relative(directory, parent)
    .split('/')
    .filter((name) => name !== '')) {
    path = `${path}/${part}`;
    const kind = await kindOf(path);
    if (kind === 'symlink')
      throw new Error(`an archive writes through the link ${relative(directory, path)}`);
    if (kind === 'directory') continue;
    if (kind !== null) await removePath(path);
    await mkdir(path);
  }
}

const writers = { file: writeFile, directory: makeDirectory, symlink: makeLink };

async function writeFile(path: string, entry: FileEntry, signal: AbortSignal): Promise<void> {
  await removePath(path);
  const file = await open(path, 'wx', entry.mode & 0o777);
  if (entry.content) await pipeline(entry.content, file.createWriteStream(), { signal });
  else await file.close();
  await chmod(path, entry.mode & 0o777);
  await utimes(path, entry.mtime, entry.mtime);
}

async function makeDirectory(path: string, entry: FileEntry): Promise<void> {
  if ((await kindOf(path)) !== 'directory') {
    await removePath(path);
    await mkdir(path);
  }
  // The owner must be able to fill and to remove it, whatever the archive says.
  await chmod(path, (entry.mode & 0o777) | 0o700);
}

async function makeLink(path: string, entry: FileEntry): Promise<void> {
  await removePath(path);
  await symlink(entry.linkTarget ?? '', path);
  await lutimes(path, entry.mtime, entry.mtime);
}
