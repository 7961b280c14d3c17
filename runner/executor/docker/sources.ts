import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddEntry, EntryHeader } from './archive-in.ts';

/** Owner of files inside a container. */
export interface Owner {
  uid: number;
  gid: number;
}

interface SourceTree {
  /** Directory on this host. */
  from: string;
  /** Its name in the archive. */
  to: string;
  owner: Owner;
  signal: AbortSignal;
}

/** Files up to this many bytes are read at once, which is many times faster than a stream for each. */
const smallFile = 64 * 1024;

/**
 * Adds a directory with all below it. Everybody may write everything, because images may run as any user.
 * Only directories, files and links are taken along.
 */
export async function addTree(add: AddEntry, tree: SourceTree): Promise<void> {
  const info = await lstat(tree.from);
  await add({ name: tree.to, type: 'directory', mode: 0o777, mtime: info.mtime, ...tree.owner });
  const names = (await readdir(tree.from, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  for (const entry of names) {
    tree.signal.throwIfAborted();
    const child = { ...tree, from: join(tree.from, entry.name), to: `${tree.to}/${entry.name}` };
    if (entry.isDirectory()) await addTree(add, child);
    else if (entry.isSymbolicLink()) await addLink(add, child);
    else if (entry.isFile()) await addFile(add, child);
  }
}

/** The directories that lead to the project, which the engine would make for root alone. */
export async function addParents(add: AddEntry, path: string, owner: Owner): Promise<void> {
  const segments = path.split('/').slice(0, -1);
  for (let depth = 0; depth <= segments.length; depth++) {
    const name = ['.', ...segments.slice(0, depth)].join('/');
    await add({ name, type: 'directory', mode: 0o777, ...owner });
  }
}

async function addLink(add: AddEntry, { from, to, owner }: SourceTree): Promise<void> {
  const [info, linkname] = await Promise.all([lstat(from), readlink(from)]);
  await add({ name: to, type: 'symlink', mode: 0o777, linkname, mtime: info.mtime, ...owner });
}

async function addFile(add: AddEntry, { from, to, owner }: SourceTree): Promise<void> {
  const info = await lstat(from);
  const mode = 0o666 | (info.mode & 0o111 ? 0o111 : 0);
  const header: EntryHeader = { name: to, type: 'file', mode, mtime: info.mtime, size: info.size, ...owner };
  if (info.size <= smallFile) await add(header, await readFile(from));
  else await add(header, createReadStream(from, { end: info.size - 1 }));
}
