import { z } from 'zod';
import { DurationError, parseDuration } from '../../shared/duration.ts';
import { requireBuildToken, requireReaderToken } from '../actions/build-token.ts';
import { removeArtifacts, storeArtifacts } from '../actions/store-artifacts.ts';
import { badRequest, forbidden, missing } from '../errors.ts';
import { bytes } from '../http/answers.ts';
import { openArtifacts } from '../http/artifacts-answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { optional, text } from '../http/params.ts';
import { readUpload } from '../http/upload.ts';
import { BuildJson, presentBuild } from '../present/build.ts';
import type { BuildAccessRow } from '../queries/build-access.ts';
import { findBuild } from '../queries/build-row.ts';
import { withBuildToken } from './build-access.ts';

const upload = endpoint({
  method: 'POST',
  path: '/builds/:id/artifacts',
  summary: 'Stores the artifacts of a running build, in place of earlier ones',
  access: withBuildToken('form'),
  params: { expire_in: optional(text({ max: 255 })) },
  returns: BuildJson.nullable(),
  body: 'stream',
  // The bytes are stored before the build may refer to them.
  transaction: false,
  async run({ build, token, params, work, header, stream }) {
    if (token !== '') requireUploads(build);
    const given = readExpiry(params.expire_in);
    const isStored = await readUpload(
      stream,
      header('content-type'),
      async ({ stream: file, filename, fields, allFields }) => {
        if (token === '') requireBuildToken(work, build, fields.token ?? '');
        requireUploads(build);
        const early = given ?? readExpiry(fields.expire_in);
        const expireIn = async () => early ?? readExpiry((await allFields).expire_in);
        await storeArtifacts(work, { build, file, filename, expireIn });
        return true;
      },
    );
    if (!isStored) throw token === '' ? forbidden() : missing('Missing artifacts file!');
    const stored = await findBuild(work.em, build.project_id, build.id);
    return stored && presentBuild(stored, work.origin);
  },
});

const downloadArtifacts = endpoint({
  method: 'GET',
  path: '/builds/:id/artifacts',
  summary: 'Sends the artifacts of a build, whatever its state',
  access: withBuildToken('read'),
  returns: bytes('application/octet-stream'),
  run: ({ build, work }) => openArtifacts(work, build),
});

const remove = endpoint({
  method: 'DELETE',
  path: '/builds/:id/artifacts',
  summary: 'Removes the artifacts of a build, if there are any',
  access: withBuildToken('write'),
  returns: z.null(),
  async run({ build, token, work }) {
    // A build's own token is of no use once its time is over; the project's always is.
    if (!build.takes_uploads) await requireReaderToken(work, build, token);
    await removeArtifacts(work, build.id);
    return null;
  },
});

export const endpoints: Endpoint[] = [upload, downloadArtifacts, remove];

function requireUploads(build: BuildAccessRow): void {
  if (build.erased_at) throw forbidden('Build has been erased!');
  if (!build.takes_uploads) throw forbidden('Build is not running!');
}

/** Seconds from now; null when the artifacts stay. */
function readExpiry(given: string | undefined): number | null {
  if (given === undefined || given.trim() === 'never') return null;
  try {
    return parseDuration(given);
  } catch (error) {
    if (error instanceof DurationError) throw badRequest(`400 (Bad request) "expire_in": ${error.message}`);
    throw error;
  }
}
