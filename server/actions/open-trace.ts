import { Readable } from 'node:stream';
import { Blackout, openSecretLength, secretReach } from '../../shared/blackout.ts';
import { secretsOfBuild } from '../queries/build-secrets.ts';
import { findTrace, liveTrace } from '../queries/trace.ts';
import type { Work } from '../services.ts';

export interface OpenedTrace {
  stream: Readable;
  /** Bytes that can be read of the trace at this moment. */
  length: number;
}

/**
 * The trace from `start` to its present end, with secrets blacked out. Readers see one sequence of bytes, whether
 * it is still growing or already in the blob store, and whatever pieces they read it in: a secret that lies
 * across `start` is seen from its beginning, and the beginning of one whose rest has not come yet is held back.
 * Nothing is there for a start beyond the end.
 */
export async function openTrace(work: Work, buildId: number, start: number): Promise<OpenedTrace> {
  const trace = await findTrace(work.em, buildId);
  const secrets = await secretsOfBuild(work.em, work.secrets, buildId);
  const stored = trace?.length ?? 0;
  const length = trace?.is_growing ? stored - (await heldBack(work, { buildId, stored }, secrets)) : stored;
  const from = Math.max(0, Math.min(start, length) - secretReach(secrets));
  // Up to the stored end, so that a secret is known by its whole length.
  const bytes = masked(rawTrace(work, { buildId, start: from, end: stored }), secrets);
  const wanted = cut(bytes, { from: start - from, to: length - from });
  return { stream: Readable.from(wanted, { objectMode: false }), length };
}

async function heldBack(
  work: Work,
  { buildId, stored }: { buildId: number; stored: number },
  secrets: string[],
): Promise<number> {
  const start = Math.max(0, stored - secretReach(secrets));
  const chunks: Buffer[] = [];
  for await (const chunk of rawTrace(work, { buildId, start, end: stored })) chunks.push(chunk);
  return openSecretLength(Buffer.concat(chunks), secrets);
}

async function* cut(
  source: AsyncIterable<Buffer>,
  { from, to }: { from: number; to: number },
): AsyncGenerator<Buffer> {
  let offset = 0;
  for await (const chunk of source) {
    const part = chunk.subarray(Math.max(0, from - offset), Math.max(0, to - offset));
    offset += chunk.length;
    if (part.length > 0) yield part;
  }
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
