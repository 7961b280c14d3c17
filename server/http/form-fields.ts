import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { badRequest, notText, tooLarge } from '../errors.ts';

const maxFields = 1000;
const unreadable = '400 (Bad request) body cannot be parsed';

/**
 * The fields of a multipart form as pairs of name and value, in order. Files are passed over unread.
 *
 * @param limit of all names and values, in bytes.
 * @throws AppError 400 when it is no form, 413 when it is too large.
 */
export async function readFormFields(body: IncomingMessage, limit: number): Promise<[string, string][]> {
  const form = openForm(body, limit);
  const pairs: [string, string][] = [];
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    form.on('field', (name: string | undefined, value, nameIsCut, valueIsCut) => {
      // A part need not have a name.
      if (name === undefined) return;
      size += Buffer.byteLength(name) + Buffer.byteLength(value);
      if (nameIsCut || valueIsCut || size > limit) reject(tooLarge());
      // What the reader puts in place of bytes that are no UTF-8.
      else if (`${name}${value}`.includes('\ufffd')) reject(notText());
      else pairs.push([name, value]);
    });
    // Of a file that breaks off the form tells too; told to nobody, it would end the process.
    form.on('file', (_name, file) => file.on('error', () => undefined).resume());
    form.on('fieldsLimit', () => reject(tooLarge()));
    form.on('error', () => reject(badRequest(unreadable)));
    form.on('finish', resolve);
    body.once('error', () => reject(badRequest(unreadable)));
    body.pipe(form);
  }).finally(() => body.unpipe(form));
  return pairs;
}

function openForm(body: IncomingMessage, limit: number) {
  try {
    return new Busboy({
      headers: { 'content-type': body.headers['content-type'] ?? '' },
      limits: { fields: maxFields, fieldSize: limit, headerPairs: 50 },
    });
  } catch {
    // Its texts speak of the parser.
    throw badRequest(unreadable);
  }
}
