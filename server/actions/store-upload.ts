import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AppError, notFound } from '../errors.ts';
import type { Work } from '../services.ts';
import { inTransaction, sqlOne } from '../sql.ts';
import { putLimited, safeFilename } from './stored-file.ts';

export interface SentUpload {
  projectId: number;
  uploaderId: number;
  file: Readable;
  /** As the sender named it. */
  filename: string;
}

export interface StoredUpload {
  /** 32 hexadecimal digits that stand in its address. */
  secret: string;
  filename: string;
}

/**
 * Stores a file for the texts of a project. Its bytes are durable before anything refers to them.
 *
 * @throws AppError 413 above the instance's limit, 404 when the project is gone by then; nothing is kept then.
 */
export async function storeUpload(work: Work, upload: SentUpload): Promise<StoredUpload> {
  const settings = await sqlOne<{ max_attachment_size: number }>(
    work.em,
    'select max_attachment_size from settings where id = 1',
  );
  const secret = randomBytes(16).toString('hex');
  const key = `uploads/${upload.projectId}/${secret}`;
  const limit = (settings?.max_attachment_size ?? 0) * 1024 * 1024;
  const size = await putLimited(work, { key, file: upload.file, limit });
  const stored = { secret, filename: safeFilename(upload.filename, 'file') };
  try {
    await inTransaction(work, (inner) => keep(inner, upload, { ...stored, key, size }));
  } catch (error) {
    // After a lost connection the row may be there already.
    if (error instanceof AppError) await work.storage.remove(key);
    throw error;
  }
  return stored;
}

async function keep(
  { em }: Work,
  { projectId, uploaderId }: SentUpload,
  { secret, filename, key, size }: StoredUpload & { key: string; size: number },
): Promise<void> {
  // A project that is removed meanwhile waits for this row, and takes it along.
  const row = await sqlOne(
    em,
    `insert into uploads (project_id, uploader_id, secret, filename, size, blob_key)
     select p.id, $2, $3, $4, $5, $6 from projects p where p.id = $1 and not p.pending_delete for share
     returning id`,
    [projectId, uploaderId, secret, filename, size, key],
  );
  if (!row) throw notFound('Project');
}
