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

/** Entries that are looked at together: waiting for the disk one by one would take most of the time. */
const batchSize = 32;

/** An entry that is ready to be added. */
interface Loaded {
  header: EntryHeader;
  content?: Buffer;
  /** A file too large to be read ahead, or a directory to go into. */
  next?: 'stream' | 'descend';
  from: string;
}

/**
 * Adds a directory with all below it. Everybody may write everything, because images may run as any user.
 * Only directories, files and links are taken along.
 */
export async function addTree(add: AddEntry, tree: SourceTree): Promise<void> {
  await add((await load(tree)).header);
  const names = (await readdir(tree.from)).sort();
  for (let at = 0; at < names.length; at += batchSize) {
    tree.signal.throwIfAborted();
    const batch = names.slice(at, at + batchSize).map((name) => childOf(tree, name));
    for (const entry of await Promise.all(batch.map(load))) await addLoaded(add, tree, entry);
  }
}

async function addLoaded(add: AddEntry, tree: SourceTree, entry: Loaded): Promise<void> {
  const { header, content, next, from } = entry;
  if (next === 'descend') await addTree(add, { ...tree, from, to: header.name });
  else if (next === 'stream') await add(header, createReadStream(from, { end: (header.size ?? 0) - 1 }));
  else if (header.type) await add(header, content);
}

function childOf(tree: SourceTree, name: string): SourceTree {
  return { ...tree, from: join(tree.from, name), to: `${tree.to}/${name}` };
}

async function load({ from, to, owner }: SourceTree): Promise<Loaded> {
  const info = await lstat(from);
  const header = { name: to, mtime: info.mtime, mode: 0o777, ...owner };
  if (info.isDirectory()) return { from, header: { ...header, type: 'directory' }, next: 'descend' };
  if (info.isSymbolicLink()) {
    return { from, header: { ...header, type: 'symlink', linkname: await readlink(from) } };
  }
  // Sockets and the like have no type here and are left out.
  if (!info.isFile()) return { from, header };
  const mode = 0o666 | (info.mode & 0o111 ? 0o111 : 0);
  const file: EntryHeader = { ...header, mode, type: 'file', size: info.size };
  if (info.size > smallFile) return { from, header: file, next: 'stream' };
  return { from, header: file, content: await readFile(from) };
}

/** The directories that lead to the project, which the engine would make for root alone. */
export async function addParents(add: AddEntry, path: string, owner: Owner): Promise<void> {
  const segments = path.split('/').slice(0, -1);
  for (let depth = 0; depth <= segments.length; depth++) {
    const name = ['.', ...segments.slice(0, depth)].join('/');
    await add({ name, type: 'directory', mode: 0o777, ...owner });
  }
}
