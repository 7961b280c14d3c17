import type { Readable } from 'node:stream';
import { tooLarge } from '../errors.ts';
import { brokenOff } from './read-bytes.ts';

/** Bytes in which everything stands that a runner sends before the trace. */
const headSize = 64 * 1024;

/**
 * Reads the JSON text of a runner's report. Where it is too large because of its trace, it is given back without
 * that: runners repeat a last report that is refused for ever, and most of the trace came in parts before.
 *
 * @throws AppError 413 when something else is too large, 400 when the client breaks it off.
 */
export async function readReport(stream: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limit) break;
    }
  } catch (error) {
    throw brokenOff(error);
  }
  const bytes = Buffer.concat(chunks);
  return size > limit ? withoutTrace(bytes.toString('utf8', 0, headSize)) : bytes.toString();
}

function withoutTrace(head: string): string {
  const before = /^(\{.*?),\s*"trace"\s*:\s*"/s.exec(head)?.[1];
  if (before === undefined) throw tooLarge();
  return `${before}}`;
}
