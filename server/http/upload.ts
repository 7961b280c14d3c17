import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { badRequest } from '../errors.ts';

export interface UploadedFile {
  /** Passes through; must be read to its end. */
  stream: Readable;
  /** As the client named it: not to be trusted. */
  filename: string;
  /** Fields that came before the file. */
  fields: Record<string, string>;
}

const limits = { fields: 20, fieldSize: 64 * 1024, files: 1, headerPairs: 50 };

/**
 * Reads a multipart body of the given content type whose part `file` is handed to `store` while it arrives. Nothing is held in memory or
 * written aside.
 *
 * @returns what `store` gave back, or null when the form has no such file.
 * @throws AppError 400 for a body that is no multipart form.
 */
export async function readUpload<T>(
  body: Readable,
  contentType: string,
  store: (file: UploadedFile) => Promise<T>,
): Promise<T | null> {
  const form = openForm(contentType);
  const fields: Record<string, string> = Object.create(null);
  let stored: Promise<T> | null = null;
  return new Promise<T | null>((resolve, reject) => {
    form.on('field', (name, value) => {
      fields[name] = value;
    });
    form.on('file', (name, stream, filename) => {
      if (name !== 'file' || stored) {
        stream.resume();
        return;
      }
      stored = store({ stream, filename: filename ?? '', fields });
      stored.catch(reject);
      body.once('close', () => {
        if (!body.readableEnded) stream.destroy(badRequest('400 (Bad request) the upload was cut off'));
      });
    });
    form.on('error', (error: Error) => reject(badRequest(`400 (Bad request) ${error.message}`)));
    form.on('finish', () => (stored ? stored.then(resolve, reject) : resolve(null)));
    body.once('error', reject);
    body.pipe(form);
  });
}

function openForm(contentType: string) {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    // Its texts speak of the parser; the caller only needs to know what was expected.
    throw badRequest('400 (Bad request) "file" not given as multipart/form-data');
  }
}
