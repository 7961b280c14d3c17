import type { Readable } from 'node:stream';

export interface StoredBlob {
  /** In bytes. */
  size: number;
  /** Of the bytes, in lower case hexadecimal. */
  sha256: string;
}

export interface PutOptions {
  /** Bytes the blob may have; unbounded unless told. */
  limit?: number | undefined;
}

/** The first and the last byte wanted, counted from 0, both included. */
export interface ByteRange {
  start?: number | undefined;
  end?: number | undefined;
}

export interface OpenedBlob {
  /** The bytes of the range. The caller reads it to its end or destroys it. */
  stream: Readable;
  /** Of the whole blob, in bytes. */
  size: number;
}

/** Where artifacts, traces and uploads lie. A blob is there with all its bytes or not at all. */
export interface BlobStorage {
  /**
   * Stores a blob, in place of an earlier one of the same key; durable once this resolves. When the source
   * fails, or has more bytes than allowed (BlobTooLargeError), nothing is left of it and an earlier blob
   * stays. The source is never destroyed: a caller that still has to answer on it reads or ends it.
   */
  put(key: string, source: Readable, options?: PutOptions): Promise<StoredBlob>;
  /** Opens a blob, or a part of it; null when there is none. Later puts and removes do not disturb it. */
  get(key: string, range?: ByteRange): Promise<OpenedBlob | null>;
  /** Removes a blob; one that is not there is as good as removed. */
  remove(key: string): Promise<void>;
  /** Removes what broken puts left behind more than `olderThanMs` ago; gives back how many. */
  sweepTemporary(olderThanMs: number): Promise<number>;
}

export class BlobTooLargeError extends Error {
  /** In bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super(`a blob of more than ${limit} bytes`);
    this.name = 'BlobTooLargeError';
    this.limit = limit;
  }
}

/**
 * Whether a key is proper: parts of lower case letters, digits and `._-`, separated by single slashes, none
 * starting with a dot; 512 characters at most. Every storage checks its keys by this.
 */
export function isBlobKey(key: string): boolean {
  return key.length <= 512 && /^[a-z0-9_-][a-z0-9_.-]{0,199}(?:\/[a-z0-9_-][a-z0-9_.-]{0,199})*$/.test(key);
}
