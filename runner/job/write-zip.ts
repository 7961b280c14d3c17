import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { FileEntry } from '../executor/executor.ts';

const kinds = { file: 0o100000, directory: 0o040000, symlink: 0o120000 };

/** Packs entries while they are read; a few buffers are all that is held in memory. */
export function writeZip(entries: AsyncIterable<FileEntry>): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  addAll(zip, entries, output).then(
    () => zip.end(),
    (error: Error) => output.destroy(error),
  );
  return output;
}

async function addAll(zip: ZipFile, entries: AsyncIterable<FileEntry>, output: Readable): Promise<void> {
  for await (const entry of entries) {
    if (output.destroyed) return;
    await add(zip, entry, output);
  }
}

async function add(zip: ZipFile, entry: FileEntry, output: Readable): Promise<void> {
  const { path, mtime } = entry;
  const mode = kinds[entry.type] | (entry.mode & 0o777);
  if (entry.type === 'directory') return zip.addEmptyDirectory(path, { mtime, mode });
  if (entry.type === 'symlink') {
    return zip.addBuffer(Buffer.from(entry.linkTarget ?? ''), path, { mtime, mode, compress: false });
  }
  if (!entry.content) return zip.addBuffer(Buffer.alloc(0), path, { mtime, mode });
  const { content } = entry;
  // The next entry may be asked for only when this one has been read; a reader that went away ends both.
  const closed = once(content, 'close');
  const abandon = () => content.destroy();
  output.once('close', abandon);
  zip.addReadStream(content, path, { mtime, mode });
  await closed;
  output.off('close', abandon);
}
