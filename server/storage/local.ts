import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import {
  type BlobStorage,
  BlobTooLargeError,
  type ByteRange,
  isBlobKey,
  type OpenedBlob,
  type PutOptions,
  type StoredBlob,
} from './storage.ts';

/** Blobs as files below one folder, which several servers may share. */
export class LocalStorage implements BlobStorage {
  private readonly root: string;
  /** Below the root, so that a rename stays on one file system; no key can name it. */
  private readonly temporary: string;

  constructor(root: string) {
    this.root = root;
    this.temporary = join(root, '.incoming');
  }

  async put(key: string, source: Readable, options: PutOptions = {}): Promise<StoredBlob> {
    const path = this.pathOf(key);
    await mkdir(this.temporary, { recursive: true });
    const aside = join(this.temporary, randomUUID());
    try {
      const stored = await writeAll(aside, source, options.limit ?? Number.POSITIVE_INFINITY);
      await makeFolder(dirname(path));
      await rename(aside, path);
      await syncFolder(dirname(path));
      return stored;
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
  }

  async get(key: string, range: ByteRange = {}): Promise<OpenedBlob | null> {
    const handle = await open(this.pathOf(key), 'r').catch(ignoreMissing);
    if (handle === null) return null;
    const stats = await handle.stat();
    if (!stats.isFile()) {
      await handle.close();
      return null;
    }
    const { start = 0, end = Math.max(0, stats.size - 1) } = range;
    if (start > end) {
      await handle.close();
      return { stream: Readable.from([]), size: stats.size };
    }
    return { stream: handle.createReadStream({ start, end }), size: stats.size };
  }

  async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true }).catch(ignoreMissing);
  }

  async sweepTemporary(olderThanMs: number): Promise<number> {
    const oldest = Date.now() - olderThanMs;
    const names = (await readdir(this.temporary).catch(ignoreMissing)) ?? [];
    let removed = 0;
    for (const name of names) {
      const found = await stat(join(this.temporary, name)).catch(ignoreMissing);
      if (found === null || found.mtimeMs > oldest) continue;
      await rm(join(this.temporary, name), { force: true });
      removed += 1;
    }
    return removed;
  }

  private pathOf(key: string): string {
    if (!isBlobKey(key)) throw new TypeError(`not a blob key: ${JSON.stringify(key)}`);
    return join(this.root, key);
  }
}

async function writeAll(path: string, source: Readable, limit: number): Promise<StoredBlob> {
  const handle = await open(path, 'wx', 0o600);
  try {
    const stored = await copy(source, { handle, limit });
    await handle.sync();
    return stored;
  } finally {
    await handle.close();
  }
}

async function copy(
  source: Readable,
  { handle, limit }: { handle: FileHandle; limit: number },
): Promise<StoredBlob> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of source.iterator({ destroyOnReturn: false })) {
    const chunk = Buffer.from(piece);
    size += chunk.length;
    if (size > limit) throw new BlobTooLargeError(limit);
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  return { size, sha256: hash.digest('hex') };
}

/** A folder is durable only once the one that holds it has been synced, up to the first that was there. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
