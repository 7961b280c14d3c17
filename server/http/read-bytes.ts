import type { Readable } from 'node:stream';
import { badRequest, tooLarge } from '../errors.ts';

/**
 * A body as raw bytes, in the pieces that came, whatever its content type says. One that is too large is left open, so that its sender gets
 * to the answer; HTTP drops the rest of it then.
 *
 * @throws AppError 413 above `limit` bytes, 400 when the client breaks it off.
 */
export function readBytes(stream: Readable, limit: number): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limit) settle(() => reject(tooLarge()));
    };
    const end = () => settle(() => resolve(chunks));
    const fail = (cause: unknown) => settle(() => reject(brokenOff(cause)));
    const close = () => fail(null);
    const settle = (outcome: () => void) => {
      stream.off('data', take).off('end', end).off('error', fail).off('close', close).pause();
      outcome();
    };
    stream.on('data', take).on('end', end).on('error', fail).on('close', close);
  });
}

/** An error of the body's stream means that nobody waits for an answer any more. */
export function brokenOff(cause: unknown): Error {
  return Object.assign(badRequest('400 (Bad request) the body was broken off'), { cause });
}
