import { Readable } from 'node:stream';
import { Blackout } from '../../shared/blackout.ts';
import { secretsOfBuild } from '../queries/build-secrets.ts';
import { findTrace, liveTrace } from '../queries/trace.ts';
import type { Work } from '../services.ts';

export interface OpenedTrace {
  stream: Readable;
  /** Bytes of the whole trace at this moment. */
  length: number;
}

/**
 * The trace from `start` to its present end, with secrets blacked out. Readers see one sequence of bytes, whether
 * it is still growing or already in the blob store. Nothing is there for a start beyond the end.
 */
export async function openTrace(work: Work, buildId: number, start: number): Promise<OpenedTrace> {
  const trace = await findTrace(work.em, buildId);
  const length = trace?.length ?? 0;
  const secrets = await secretsOfBuild(work.em, work.secrets, buildId);
  const bytes = masked(rawTrace(work, { buildId, start, end: length }), secrets);
  return { stream: Readable.from(bytes, { objectMode: false }), length };
}

interface Span {
  buildId: number;
  start: number;
  end: number;
}

async function* rawTrace(work: Work, { buildId, start, end }: Span): AsyncGenerator<Buffer> {
  let offset = start;
  const trace = await findTrace(work.em, buildId);
  if (!trace?.blob_key) {
    for await (const chunk of liveTrace(work.em, { buildId, start, end })) {
      offset += chunk.length;
      yield chunk;
    }
  }
  if (offset >= end) return;
  // The trace was moved to the blob store before, or while it was read.
  const key = (await findTrace(work.em, buildId))?.blob_key;
  const blob = key ? await work.storage.get(key, { start: offset, end: end - 1 }) : null;
  if (blob) yield* blob.stream as AsyncIterable<Buffer>;
}

async function* masked(source: AsyncIterable<Buffer>, secrets: string[]): AsyncGenerator<Buffer> {
  const blackout = new Blackout(secrets);
  for await (const chunk of source) {
    const shown = blackout.push(chunk);
    if (shown.length > 0) yield shown;
  }
  const rest = blackout.flush();
  if (rest.length > 0) yield rest;
}
