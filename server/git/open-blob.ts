import { Readable } from 'node:stream';
import type { CatFile } from './cat-file.ts';
import type { ObjectInfo } from './cat-file-reply.ts';
import { streamBlob } from './stream-git.ts';

/** Up to here bytes are read by the process that runs anyway. While it reads, nobody else reads this repository. */
const smallBlob = 256 * 1024;

/** The bytes of a blob, however many they are. The stream fails with a GitError when git does. */
export async function openBlob(objects: CatFile, dir: string, { sha, size }: ObjectInfo): Promise<Readable> {
  const small = size > smallBlob ? null : await objects.readObject(dir, sha);
  return small ? Readable.from(small.data) : streamBlob(dir, sha);
}
