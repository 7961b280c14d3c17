import { chmod, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { CatFile } from '../../server/git/cat-file.ts';
import { GitError } from '../../server/git/errors.ts';
import { packNames } from '../support/many-packs.ts';
import { git, gitWithInput, makeBench } from './real-git.ts';

const bench = await makeBench();
const objects = new CatFile();
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

async function overwrite(dir: string, sha: string, content: string): Promise<void> {
  const path = join(dir, 'objects', sha.slice(0, 2), sha.slice(2));
  await rm(path);
  await writeFile(path, content);
}

for (const [damage, content] of [
  ['garbage', 'garbage and more of it'],
  ['nothing', ''],
]) {
  test(`a file of which ${damage} is left is a fault, and no missing file`, async (t) => {
    const { dir, sha } = await bench.filled();
    const blob = await git(dir, 'rev-parse', `${sha}:README`);
    await overwrite(dir, blob, content ?? '');
    await t.throwsAsync(objects.readBlob(dir, `${sha}:README`), { instanceOf: GitError });
    await t.throwsAsync(objects.readInfo(dir, blob), { instanceOf: GitError });
    t.is(await objects.readBlob(dir, `${sha}:other`), null);
    t.is((await objects.readCommit(dir, 'refs/heads/master'))?.sha, sha);
  });
}

test('a fault is told of that one read of many at once which it is about', async (t) => {
  const { dir, sha } = await bench.filled();
  const blob = await git(dir, 'rev-parse', `${sha}:README`);
  await overwrite(dir, blob, 'garbage');
  const specs = [`${sha}:other`, sha, `${sha}:README`, 'refs/heads/none', `${sha}^{tree}`, blob];
  const reads = specs.flatMap((spec) => [objects.readInfo(dir, spec), objects.readObject(dir, spec)]);
  const outcomes = (await Promise.allSettled(reads)).map((read) =>
    read.status === 'rejected' ? read.reason instanceof GitError && 'fault' : (read.value?.type ?? 'none'),
  );
  const expected = ['none', 'commit', 'fault', 'none', 'tree', 'fault'];
  t.deepEqual(
    outcomes,
    expected.flatMap((outcome) => [outcome, outcome]),
  );
});

test('so is a commit that a branch leads to, and a pack that was cut off', async (t) => {
  const loose = await bench.filled();
  await overwrite(loose.dir, loose.sha, 'garbage');
  await t.throwsAsync(objects.readCommit(loose.dir, 'refs/heads/master'), { instanceOf: GitError });
  const packed = await bench.filled();
  await git(packed.dir, 'repack', '-adq');
  const [name = ''] = await packNames(packed.dir);
  await chmod(join(packed.dir, 'objects/pack', name), 0o644);
  await truncate(join(packed.dir, 'objects/pack', name), 40);
  await t.throwsAsync(objects.readCommit(packed.dir, 'refs/heads/master'), { instanceOf: GitError });
});

test('what is of another kind, or could be several, is nothing damaged', async (t) => {
  const { dir } = await bench.filled();
  const blobs = await gitWithInput(dir, ['fast-import', '--quiet', '--cat-blob-fd=1'], manyBlobs());
  const prefixes = blobs.split('\n').map((sha) => sha.slice(0, 4));
  const twice = prefixes.find((prefix, index) => prefix !== '' && prefixes.indexOf(prefix) !== index) ?? '';
  t.is(twice.length, 4);
  t.is(await objects.readInfo(dir, twice), null);
  t.is(await objects.readCommit(dir, twice), null);
  t.is(await objects.readCommit(dir, blobs.slice(0, 40)), null);
});

/** So many that two ids begin alike. */
function manyBlobs(): string {
  return Array.from({ length: 1000 }, (_, index) => {
    const content = `${index}`;
    return `blob\nmark :${index + 1}\ndata ${content.length}\n${content}\nget-mark :${index + 1}\n`;
  }).join('');
}
