import type { Readable } from 'node:stream';
import { tooLarge } from '../errors.ts';

/**
 * A body as raw bytes, whatever its content type says.
 *
 * @throws AppError 413 above `limit` bytes.
 */
export async function readBytes(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
