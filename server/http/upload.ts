import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { badRequest, missing } from '../errors.ts';
import { brokenOff } from './read-bytes.ts';

export interface UploadedFile {
  /** Passes through; must be read to its end. */
  stream: Readable;
  /** As the client named it: not to be trusted. */
  filename: string;
  /** Fields that came before the file. */
  fields: Record<string, string>;
  /** All fields, once the file has been read and the form is at its end. */
  allFields: Promise<Record<string, string>>;
}

const limits = { fields: 20, fieldSize: 64 * 1024, files: 4, headerPairs: 50 };

/**
 * Reads a multipart body of the given content type whose part `file` is handed to `store` while it arrives.
 * Nothing is held in memory or written aside. When it fails, the rest of the body is read and dropped, so that
 * the client gets to the answer.
 *
 * @returns what `store` gave back, or null when the form has no such file.
 * @throws AppError 400 for a body that is no multipart form, which is told as a missing file, or is broken off.
 */
export async function readUpload<T>(
  body: Readable,
  contentType: string,
  store: (file: UploadedFile) => Promise<T>,
): Promise<T | null> {
  try {
    const form = openForm(contentType);
    const result = parse(form, body, store);
    body.pipe(form);
    return await result;
  } catch (error) {
    body.unpipe();
    body.resume();
    throw error;
  }
}

function parse<T>(
  form: BusboyInstance,
  body: Readable,
  store: (file: UploadedFile) => Promise<T>,
): Promise<T | null> {
  const fields: Record<string, string> = Object.create(null);
  let file: Readable | null = null;
  let stored: Promise<T> | null = null;
  /** What is wrong with the form: whoever stores the file hears of it in other words. */
  let fault: Error | null = null;
  let giveUp: (error: Error) => void = () => undefined;
  const allFields = new Promise<Record<string, string>>((resolve, reject) => {
    form.on('finish', () => resolve(fields));
    giveUp = reject;
  });
  // Not everybody asks for them.
  allFields.catch(() => undefined);
  return new Promise<T | null>((resolve, reject) => {
    const fail = (error: Error) => {
      // Whoever stores the file hears of it first, and cleans up.
      fault ??= error;
      giveUp(error);
      file?.destroy(error);
      if (stored)
        stored.then(
          () => reject(error),
          () => reject(error),
        );
      else reject(error);
    };
    form.on('field', (name, value) => {
      fields[name] = value;
    });
    form.on('file', (name, stream, filename) => {
      // Its faults reach whoever reads it; one that nobody reads any more must not end the process.
      stream.on('error', () => undefined);
      if (name !== 'file' || stored) {
        stream.resume();
        return;
      }
      file = stream;
      stored = store({ stream, filename: filename ?? '', fields, allFields });
      stored.catch((error) => reject(fault ?? error));
    });
    form.on('error', (error: Error) => fail(badRequest(`400 (Bad request) ${error.message}`)));
    form.on('finish', () => (stored ? stored.then(resolve, reject) : resolve(null)));
    body.once('error', (error) => fail(brokenOff(error)));
    body.once('close', () => {
      if (!body.readableEnded) fail(brokenOff(null));
    });
  });
}

function openForm(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    // Its texts speak of the parser; a body that is no form has no file.
    throw missing('file');
  }
}
