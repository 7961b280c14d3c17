import { z } from 'zod';
import { parseContentRangeStart } from '../../shared/protocol/content-range.ts';
import { appendTrace } from '../actions/trace.ts';
import { badRequest, forbidden } from '../errors.ts';
import { reply } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { readBytes } from '../http/read-bytes.ts';
import { withBuildToken } from './build-access.ts';

/** Largest part of a trace, in bytes. */
const partLimit = 16 * 1024 * 1024;

const patchTrace = endpoint({
  method: 'PATCH',
  path: '/builds/:id/trace.txt',
  summary: 'Appends a part to the trace; Content-Range says where it starts',
  access: withBuildToken('write'),
  status: 202,
  returns: z.null(),
  body: 'stream',
  // One statement, which is the lock, the check and the write at once.
  transaction: false,
  async run({ build, work, header, stream }) {
    if (build.erased_at) throw forbidden('Build has been erased!');
    const range = header('content-range');
    if (range === '') throw badRequest('400 Missing header Content-Range');
    const start = parseContentRangeStart(range);
    if (start === null) throw badRequest('400 Content-Range cannot be read');
    const bytes = await readBytes(stream, partLimit);
    const length = await appendTrace(work, { buildId: build.id, start, bytes });
    return reply({ body: null, headers: { 'Build-Status': build.status, Range: `0-${length}` } });
  },
});

export const endpoints: Endpoint[] = [patchTrace];
