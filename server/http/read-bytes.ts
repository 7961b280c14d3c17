import type { Readable } from 'node:stream';
import { badRequest, tooLarge } from '../errors.ts';

/**
 * A body as raw bytes, whatever its content type says. One that is too large is left open, so that its sender gets
 * to the answer; HTTP drops the rest of it then.
 *
 * @throws AppError 413 above `limit` bytes, 400 when the client breaks it off.
 */
export async function readBytes(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of wholeBody(stream)) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* wholeBody(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  } catch (error) {
    throw brokenOff(error);
  }
}

/** An error of the body's stream means that nobody waits for an answer any more. */
export function brokenOff(cause: unknown): Error {
  return Object.assign(badRequest('400 (Bad request) the body was broken off'), { cause });
}
