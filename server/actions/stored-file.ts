import type { Readable } from 'node:stream';
import { tooLarge } from '../errors.ts';
import type { Work } from '../services.ts';
import { BlobTooLargeError } from '../storage/storage.ts';

interface SentFile {
  key: string;
  file: Readable;
  /** Bytes that it may have. */
  limit: number;
}

/**
 * Stores a file that somebody sends.
 *
 * @returns its size in bytes.
 * @throws AppError 413 above the limit; nothing is kept then.
 */
export async function putLimited(work: Work, { key, file, limit }: SentFile): Promise<number> {
  try {
    return (await work.storage.put(key, file, { limit })).size;
  } catch (error) {
    throw error instanceof BlobTooLargeError ? tooLarge() : error;
  }
}

/** The last part of the path, of letters that mean nothing to a file system, a header or a page. */
export function safeFilename(name: string, otherwise: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  const safe = last
    .replace(/[^A-Za-z0-9._+-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(-200);
  return safe === '' ? otherwise : safe;
}
