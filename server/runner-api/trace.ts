import { z } from 'zod';
import { parseContentRangeStart } from '../../shared/protocol/content-range.ts';
import { appendTrace, lengthForSender } from '../actions/trace.ts';
import type { TracePart } from '../actions/trace-appender.ts';
import { badRequest, forbidden, notFound } from '../errors.ts';
import { reply } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { readBytes } from '../http/read-bytes.ts';
import { findBuildAccess } from '../queries/build-access.ts';
import type { Work } from '../services.ts';
import { withTraceToken } from './build-access.ts';

/** Largest part of a trace, in bytes. */
const partLimit = 16 * 1024 * 1024;

const patchTrace = endpoint({
  method: 'PATCH',
  path: '/builds/:id/trace.txt',
  summary: 'Appends a part to the trace; Content-Range says where it starts',
  access: withTraceToken(),
  status: 202,
  returns: z.null(),
  body: 'stream',
  // One statement, which is the lock, the check and the write at once.
  transaction: false,
  async run({ buildId, work, header, stream }) {
    const start = parseContentRangeStart(header('content-range'));
    if (start === null) {
      await requireOpenBuild(work, buildId);
      throw badRequest(unreadableRange(header('content-range')));
    }
    const part = { buildId, start, pieces: await readBytes(stream, partLimit) };
    const { length, status } = (await appendTrace(work, part)) ?? (await explain(work, part));
    return reply({ body: null, headers: { 'Build-Status': status, Range: `0-${length}` } });
  },
});

/** What the sender of a part is told that was not appended. */
async function explain(work: Work, part: TracePart) {
  const { status } = await requireOpenBuild(work, part.buildId);
  return { length: await lengthForSender(work, part), status };
}

async function requireOpenBuild(work: Work, buildId: number) {
  const build = await findBuildAccess(work.em, buildId);
  if (!build) throw notFound();
  if (build.erased_at) throw forbidden('Build has been erased!');
  return build;
}

function unreadableRange(range: string): string {
  return range === '' ? '400 Missing header Content-Range' : '400 Content-Range cannot be read';
}

export const endpoints: Endpoint[] = [patchTrace];
