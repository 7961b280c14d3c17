import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AppError, forbidden } from '../errors.ts';
import type { BuildAccessRow } from '../queries/build-access.ts';
import type { Work } from '../services.ts';
import { inTransaction, sqlOne } from '../sql.ts';
import { putLimited, safeFilename } from './stored-file.ts';

export interface ArtifactsUpload {
  build: BuildAccessRow;
  file: Readable;
  filename: string;
  /** Asked once the file is stored. Seconds from now; null = never. */
  expireIn(): Promise<number | null>;
}

/**
 * Stores an uploaded archive as the build's artifacts, in place of an earlier one. The bytes are durable before
 * the build refers to them.
 *
 * @throws AppError 413 above the instance's limit, 403 when the build no longer takes uploads, what `expireIn` throws.
 */
export async function storeArtifacts(work: Work, upload: ArtifactsUpload): Promise<void> {
  const { build } = upload;
  const key = `artifacts/${build.project_id}/${build.id}-${randomUUID()}.zip`;
  const limit = build.max_artifacts_size * 1024 * 1024 - 1;
  const size = await putLimited(work, { key, file: upload.file, limit });
  try {
    const expireIn = await upload.expireIn();
    await inTransaction(work, (inner) => refer(inner, { upload, key, size, expireIn }));
  } catch (error) {
    // After a lost connection the build may refer to the bytes already.
    if (error instanceof AppError) await work.storage.remove(key);
    throw error;
  }
}

interface Stored {
  upload: ArtifactsUpload;
  key: string;
  size: number;
  expireIn: number | null;
}

async function refer(work: Work, { upload, key, size, expireIn }: Stored): Promise<void> {
  const { em } = work;
  const current = await sqlOne<{ artifacts_key: string | null }>(
    em,
    `select artifacts_key from builds where id = $1 and erased_at is null
       and (status = 'running' or (status in ('success', 'failed') and finished_at > now() - interval '10 minutes'))
     for update`,
    [upload.build.id],
  );
  if (!current) throw forbidden('Build is not running!');
  await sqlOne(
    em,
    `update builds set artifacts_key = $2, artifacts_filename = $3, artifacts_size = $4,
       artifacts_expire_at = now() + make_interval(secs => $5) where id = $1`,
    [upload.build.id, key, safeFilename(upload.filename, 'artifacts.zip'), size, expireIn],
  );
  if (current.artifacts_key) await work.queue.add(em, 'remove_blob', { key: current.artifacts_key });
}

/** Forgets the artifacts of a build and removes their bytes. */
export async function removeArtifacts(work: Work, buildId: number): Promise<void> {
  const row = await sqlOne<{ artifacts_key: string | null }>(
    work.em,
    'select artifacts_key from builds where id = $1 for update',
    [buildId],
  );
  if (!row?.artifacts_key) return;
  await sqlOne(
    work.em,
    `update builds set artifacts_key = null, artifacts_filename = null, artifacts_size = null,
       artifacts_expire_at = null where id = $1`,
    [buildId],
  );
  await work.queue.add(work.em, 'remove_blob', { key: row.artifacts_key });
}
