import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import test from 'ava';
import fc from 'fast-check';
import { LocalStorage } from '../../server/storage/local.ts';
import { BlobTooLargeError, type ByteRange, isBlobKey } from '../../server/storage/storage.ts';

const root = await mkdtemp(join(tmpdir(), 'hearth-storage-'));
const storage = new LocalStorage(root);
test.after.always(() => rm(root, { recursive: true, force: true }));

async function read(key: string, range?: ByteRange): Promise<string | null> {
  const found = await storage.get(key, range);
  return found && text(found.stream);
}

test('a blob comes back as it was put, with its size and digest', async (t) => {
  const bytes = randomBytes(300_000);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const stored = await storage.put(
    'builds/1/a.zip',
    Readable.from([bytes.subarray(0, 9), bytes.subarray(9)]),
  );
  t.deepEqual(stored, { size: 300_000, sha256 });
  const found = await storage.get('builds/1/a.zip');
  t.is(found?.size, 300_000);
  t.deepEqual(found && (await buffer(found.stream)), bytes);
});

test('an empty blob is one', async (t) => {
  t.is((await storage.put('empty', Readable.from([]))).size, 0);
  t.is(await read('empty'), '');
});

test('a part of a blob is read by its first and last byte', async (t) => {
  await storage.put('part', Readable.from(['0123456789']));
  t.is(await read('part', { start: 3, end: 5 }), '345');
  t.is(await read('part', { start: 8 }), '89');
  t.is(await read('part', { end: 0 }), '0');
  t.is(await read('part', { start: 10 }), '');
  t.is((await storage.get('part', { start: 12 }))?.size, 10);
});

test('what is not there is null, and removing it is no error', async (t) => {
  await storage.put('folder/blob', Readable.from(['x']));
  for (const key of ['nothing', 'folder', 'folder/blob/deeper']) t.is(await read(key), null, key);
  await storage.remove('nothing');
  await storage.remove('folder/blob/deeper');
  await storage.remove('folder/blob');
  t.is(await read('folder/blob'), null);
});

test('a later put takes the place of an earlier one, which readers still finish', async (t) => {
  await storage.put('twice', Readable.from(['first']));
  const earlier = await storage.get('twice');
  await storage.put('twice', Readable.from(['second']));
  t.is(await read('twice'), 'second');
  t.is(earlier && (await text(earlier.stream)), 'first');
});

test('too large a blob leaves nothing behind and its source open', async (t) => {
  const own = new LocalStorage(await mkdtemp(join(root, 'own-')));
  const source = new PassThrough();
  source.write('12345');
  source.write('6');
  const error = await t.throwsAsync(own.put('large', source, { limit: 5 }), {
    instanceOf: BlobTooLargeError,
  });
  t.is((error as BlobTooLargeError).limit, 5);
  t.false(source.destroyed);
  t.is(await own.get('large'), null);
  t.is(await own.sweepTemporary(-1000), 0);
  t.is((await own.put('exact', Readable.from(['12345']), { limit: 5 })).size, 5);
});

test('a source that breaks leaves the earlier blob in place', async (t) => {
  const own = new LocalStorage(await mkdtemp(join(root, 'own-')));
  await own.put('blob', Readable.from(['whole']));
  const breaking = new PassThrough();
  const put = own.put('blob', breaking);
  breaking.write('half');
  breaking.destroy();
  await t.throwsAsync(put);
  await t.throwsAsync(own.put('blob', breaking));
  const found = await own.get('blob');
  t.is(found && (await text(found.stream)), 'whole');
  t.is(await own.sweepTemporary(-1000), 0);
});

test('of puts at the same time one whole blob remains', async (t) => {
  const blobs = Array.from({ length: 10 }, (_, index) => String(index).repeat(100_000));
  await Promise.all(blobs.map((blob) => storage.put('race/blob', Readable.from([blob]))));
  t.true(blobs.includes((await read('race/blob')) ?? ''));
});

test('only what broken puts left long ago is swept', async (t) => {
  const folder = await mkdtemp(join(root, 'own-'));
  const own = new LocalStorage(folder);
  t.is(await own.sweepTemporary(0), 0);
  await own.put('kept', Readable.from(['x']));
  for (const name of ['old', 'fresh']) await writeFile(join(folder, '.incoming', name), 'x');
  await utimes(join(folder, '.incoming', 'old'), 1, 1);
  t.is(await own.sweepTemporary(60_000), 1);
  t.deepEqual(await readdir(join(folder, '.incoming')), ['fresh']);
  t.not(await own.get('kept'), null);
});

test('keys that are improper are refused by every call', async (t) => {
  const keys = [
    '',
    '/a',
    'a/',
    'a//b',
    '..',
    'a/../b',
    '.incoming/x',
    'A',
    'a b',
    'a\0',
    'a\n',
    'ü',
    'a'.repeat(600),
  ];
  for (const key of keys) {
    t.false(isBlobKey(key), key);
    await t.throwsAsync(storage.put(key, Readable.from(['x'])), { instanceOf: TypeError });
    await t.throwsAsync(storage.get(key), { instanceOf: TypeError });
    await t.throwsAsync(storage.remove(key), { instanceOf: TypeError });
  }
});

test('no proper key leaves the root', (t) => {
  const piece = fc.constantFrom('a', '1', '.', '..', '/', '_', '-', 'x.y');
  const key = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(key, (name) => !isBlobKey(name) || join('/root', name) === `/root/${name}`),
    { numRuns: 2000 },
  );
  t.pass();
});
