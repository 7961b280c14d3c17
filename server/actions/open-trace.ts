import { Readable } from 'node:stream';
import { Blackout, secretReach, unfinishedSecret } from '../../shared/blackout.ts';
import { type BuildStatus, isFinished } from '../../shared/build-status.ts';
import { secretsOfBuild } from '../queries/build-secrets.ts';
import { findTrace, liveTrace } from '../queries/trace.ts';
import type { Work } from '../services.ts';
import { endOfTrace, isFull } from './trace-limit.ts';

export interface OpenedTrace {
  stream: Readable;
  /** Bytes of the whole trace that may be read at this moment. */
  length: number;
}

/**
 * The trace from `start` to its present end, with secrets blacked out. Readers see one sequence of bytes, whether
 * it is still growing or already in the blob store, and wherever they start. Nothing is there for a start beyond
 * the end. While the build is at work, the trace ends before a secret that has not come to its end.
 */
export async function openTrace(
  work: Work,
  build: { id: number; status: BuildStatus },
  start: number,
): Promise<OpenedTrace> {
  const secrets = await secretsOfBuild(work.em, work.secrets, build.id);
  const reach = secretReach(secrets);
  const stored = (await findTrace(work.em, build.id))?.length ?? 0;
  const tail = { buildId: build.id, start: Math.max(0, stored - reach), end: stored };
  // The rest of a secret at the end of a full trace will never come.
  const heldBack =
    isFinished(build.status) && !isFull(stored)
      ? 0
      : unfinishedSecret(secrets, await readAll(rawTrace(work, tail)));
  const end = stored - heldBack;
  // A little earlier, because the start may lie inside of a secret.
  const from = Math.max(0, Math.min(start, end) - reach);
  const bytes = masked(rawTrace(work, { buildId: build.id, start: from, end }), secrets);
  const last = endOfTrace(stored);
  const shown = without(followedBy(bytes, last), start - from);
  return { stream: Readable.from(shown, { objectMode: false }), length: end + last.length };
}

interface Span {
  buildId: number;
  start: number;
  end: number;
}

/** The bytes of a trace as they are stored, with its secrets. */
export async function* rawTrace(work: Work, { buildId, start, end }: Span): AsyncGenerator<Buffer> {
  let offset = start;
  for await (const chunk of liveTrace(work.em, { buildId, start, end })) {
    offset += chunk.length;
    yield chunk;
  }
  if (offset >= end) return;
  // The trace was moved to the blob store before, or while it was read.
  const key = (await findTrace(work.em, buildId))?.blob_key;
  const blob = key ? await work.storage.get(key, { start: offset, end: end - 1 }) : null;
  if (!blob || blob.size < end) throw new Error('the trace was erased or replaced while it was read');
  yield* blob.stream as AsyncIterable<Buffer>;
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

async function* followedBy(source: AsyncIterable<Buffer>, last: Buffer): AsyncGenerator<Buffer> {
  yield* source;
  yield last;
}

async function* without(source: AsyncIterable<Buffer>, leading: number): AsyncGenerator<Buffer> {
  let left = leading;
  for await (const chunk of source) {
    const shown = chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
    if (shown.length > 0) yield shown;
  }
}

async function readAll(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}
