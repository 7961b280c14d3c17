import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import type { FileEntry } from '../executor/executor.ts';

export interface ZipLimits {
  entries: number;
  /** Bytes of all files together, unpacked. */
  bytes: number;
}

export const zipLimits: ZipLimits = { entries: 1_000_000, bytes: 16 * 2 ** 30 };

const typeBits = 0o170000;
const linkBits = 0o120000;
const maxLinkTarget = 4096;

/**
 * Entries of an archive that somebody else made.
 *
 * @throws Error for a path that is absolute, holds `..` or leads through a link of the archive; beyond the limits before
 * the first entry.
 */
export async function* readZip(file: string, limits: ZipLimits = zipLimits): AsyncIterable<FileEntry> {
  await assertWithin(file, limits);
  const links = new Set<string>();
  for await (const { zip, entry } of rawEntries(file)) {
    const path = checkedPath(entry.fileName, links);
    if (path === '') continue;
    const made = await toFileEntry({ zip, entry, path });
    if (made.type === 'symlink') links.add(path);
    yield made;
    made.content?.destroy();
  }
}

/** Goes by the sizes that the archive names; one that holds more than it says fails when it is read. */
async function assertWithin(file: string, limits: ZipLimits): Promise<void> {
  let total = 0;
  for await (const { zip, entry } of rawEntries(file)) {
    if (zip.entryCount > limits.entries)
      throw new Error(`the archive holds more than ${limits.entries} files`);
    total += entry.uncompressedSize;
  }
  if (total > limits.bytes) throw new Error(`the archive unpacks to more than ${limits.bytes} bytes`);
}

async function* rawEntries(file: string): AsyncIterable<{ zip: ZipFile; entry: Entry }> {
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) yield { zip, entry };
  } finally {
    zip.close();
  }
}

function checkedPath(name: string, links: ReadonlySet<string>): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.startsWith('/') || parts.includes('..') || name.includes('\0') || name.includes('\\')) {
    throw new Error(`the archive holds a path that leads out of the project directory: ${name}`);
  }
  for (let length = 1; length < parts.length; length += 1) {
    const parent = parts.slice(0, length).join('/');
    if (links.has(parent)) throw new Error(`the archive writes through its own link ${parent}`);
  }
  return parts.join('/');
}

async function toFileEntry(at: { zip: ZipFile; entry: Entry; path: string }): Promise<FileEntry> {
  const { zip, entry, path } = at;
  const unixMode = entry.externalFileAttributes >>> 16;
  const mtime = entry.getLastModDate();
  if (entry.fileName.endsWith('/')) {
    return { path, mtime, type: 'directory', mode: unixMode & 0o777 || 0o755, size: 0 };
  }
  if ((unixMode & typeBits) === linkBits) {
    if (entry.uncompressedSize > maxLinkTarget) throw new Error(`the archive holds an endless link: ${path}`);
    const linkTarget = (await buffer(await zip.openReadStreamPromise(entry))).toString();
    return { path, mtime, type: 'symlink', mode: 0o777, size: 0, linkTarget };
  }
  // Opened when it is read: the fault of a stream that nobody reads yet would end the process.
  const content = Readable.from(contentOf(zip, entry), { objectMode: false });
  return {
    path,
    mtime,
    type: 'file',
    mode: unixMode & 0o777 || 0o644,
    size: entry.uncompressedSize,
    content,
  };
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  yield* await zip.openReadStreamPromise(entry);
}
