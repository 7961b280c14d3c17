import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { FileEntry } from '../executor.ts';
import { safeJoin } from './files.ts';

export interface WalkRequest {
  directory: string;
  roots: string[];
  warn(text: string): void;
}

/** See `JobEnvironment.exportFiles`. Links are given as links, never followed. */
export async function* walkFiles({ directory, roots, warn }: WalkRequest): AsyncIterable<FileEntry> {
  for (const root of roots) {
    const isInside = await isBelow(directory, root);
    if (isInside) yield* walk({ directory, path: root, warn });
    else if (isInside === false) warn(`${root}: outside of the project directory, left out`);
  }
}

/** Whether the parent of a root is in the project directory after all links; null when it is not there. */
async function isBelow(directory: string, root: string): Promise<boolean | null> {
  try {
    const path = safeJoin(directory, root);
    if (path === directory) return true;
    const [top, parent] = [await realpath(directory), await realpath(dirname(path))];
    return parent === top || parent.startsWith(`${top}/`);
  } catch (error) {
    return 'code' in (error as object) ? null : false;
  }
}

async function* walk(at: {
  directory: string;
  path: string;
  warn(text: string): void;
}): AsyncIterable<FileEntry> {
  const full = join(at.directory, at.path);
  // Gone meanwhile: a process of the job may still be at work.
  const stats = await lstat(full).catch(() => null);
  if (stats === null) return;
  if (at.path !== '') {
    const entry = await toEntry(at.path, full, stats);
    if (entry) yield entry;
    else at.warn(`${at.path}: neither a file, directory nor link, left out`);
  }
  if (!stats.isDirectory()) return;
  for (const name of (await readdir(full)).sort()) {
    yield* walk({ ...at, path: at.path === '' ? name : `${at.path}/${name}` });
  }
}

async function toEntry(path: string, full: string, stats: Stats): Promise<FileEntry | null> {
  const common = { path, mode: stats.mode & 0o7777, mtime: stats.mtime };
  if (stats.isDirectory()) return { ...common, type: 'directory', size: 0 };
  if (stats.isSymbolicLink())
    return { ...common, type: 'symlink', size: 0, linkTarget: await readlink(full) };
  if (!stats.isFile()) return null;
  const content = Readable.from(readContent(full), { objectMode: false });
  return { ...common, type: 'file', size: stats.size, content };
}

/** Opens the file only when it is read, and not when it has become a link meanwhile. */
async function* readContent(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024));
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
