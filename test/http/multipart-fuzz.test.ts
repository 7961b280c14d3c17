import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import test from 'ava';
import fc from 'fast-check';
import { AppError } from '../../server/errors.ts';
import { readFormFields } from '../../server/http/form-fields.ts';
import { readUpload } from '../../server/http/upload.ts';

const type = 'multipart/form-data; boundary=b';

/** Pieces that a form is made of, rightly and wrongly put together. */
const piece = fc.constantFrom(
  '--b\r\n',
  '--b--\r\n',
  '--b',
  '\r\n',
  '\r\n\r\n',
  '\n',
  'Content-Disposition: form-data; name="a"',
  'Content-Disposition: form-data; name="file"; filename="x.zip"',
  'Content-Disposition: form-data; filename="x"',
  'Content-Disposition: form-data',
  'Content-Disposition: form-data; name; filename',
  'Content-Disposition: form-data; name=; filename=',
  'Content-Disposition',
  'Content-Disposition: attachment; name=a',
  'Content-Disposition: form-data; name="__proto__"',
  "Content-Disposition: form-data; name*=UTF-8''%ff%00",
  'Content-Disposition: form-data; name="file"; filename*=nonsense\'\'%zz',
  'Content-Type: text/plain; charset=nonsense',
  'Content-Type: ;;;',
  'Content-Transfer-Encoding: base64',
  'Content-Transfer-Encoding: 9bit',
  ': \r\n',
  'value',
  '\0',
  '\xff\xfe',
  'x'.repeat(100_000),
);
const body = fc.array(piece, { maxLength: 25 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1'));

function streamOf(bytes: Buffer, size: number): Readable {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return Readable.from(chunks, { objectMode: false });
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof AppError)) throw error;
  return error.status === 400 || error.status === 413;
}

test('whatever a form is made of, its fields are read or refused', async (t) => {
  await fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 1, max: 5000 }), async (bytes, size) => {
      const request = Object.assign(streamOf(bytes, size), { headers: { 'content-type': type } });
      try {
        const pairs = await readFormFields(request as unknown as IncomingMessage, 200_000);
        return pairs.flat().every((text) => typeof text === 'string');
      } catch (error) {
        return isRefusal(error);
      }
    }),
    { numRuns: 1500 },
  );
  t.pass();
});

test('whatever an upload is made of, its file is read or refused', async (t) => {
  await fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 1, max: 5000 }), async (bytes, size) => {
      const store = async ({ stream, filename }: { stream: Readable; filename: unknown }) => {
        for await (const _ of stream);
        return typeof filename === 'string';
      };
      try {
        return (await readUpload(streamOf(bytes, size), type, store)) !== false;
      } catch (error) {
        return isRefusal(error);
      }
    }),
    { numRuns: 1500 },
  );
  t.pass();
});

test('a form that ends in the middle of a file or a field is refused as that', async (t) => {
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
  const store = async ({ stream }: { stream: Readable }) => {
    for await (const _ of stream);
  };
  for (const text of [head, `${head}half`, `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf`]) {
    const bytes = Buffer.from(text);
    for (const size of [1, 1000]) {
      await t.throwsAsync(readUpload(streamOf(bytes, size), type, store), { instanceOf: AppError });
      const request = Object.assign(streamOf(bytes, size), { headers: { 'content-type': type } });
      await t.throwsAsync(readFormFields(request as unknown as IncomingMessage, 200_000), {
        instanceOf: AppError,
      });
    }
  }
});

test('whatever the content type of a form, it is read or refused', async (t) => {
  const word = fc.constantFrom(
    'multipart/form-data',
    ';',
    'boundary',
    '=',
    '"',
    'b',
    '\xff',
    ' ',
    'charset=',
    '\\',
    'x'.repeat(300),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 8 }), async (words) => {
      const request = Object.assign(streamOf(Buffer.from('--b\r\n\r\n\r\n--b--'), 5), {
        headers: { 'content-type': words.join('') },
      });
      try {
        await readFormFields(request as unknown as IncomingMessage, 200_000);
        return true;
      } catch (error) {
        return isRefusal(error);
      }
    }),
    { numRuns: 1500 },
  );
  t.pass();
});
