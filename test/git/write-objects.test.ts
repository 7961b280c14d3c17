import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { newCommit, type Person } from '../../server/git/commit-object.ts';
import { GitError } from '../../server/git/errors.ts';
import { formatTree } from '../../server/git/tree-object.ts';
import { type NewObject, newObject, writeObjects } from '../../server/git/write-objects.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

const ada: Person = { name: 'Ada Lovelace', email: 'ada@example.org' };

/** A commit of files in the top folder, with all that it needs. */
function commitOf(contents: Record<string, Buffer>, author = ada, message = 'Add'): NewObject[] {
  const blobs = Object.entries(contents).map(([name, data]) => ({ name, blob: newObject('blob', data) }));
  const entries = blobs.map(({ name, blob }) => [name, { mode: '100644', sha: blob.sha }] as const);
  const tree = newObject('tree', formatTree(new Map(entries)));
  const draft = { treeId: tree.sha, parentIds: [], author, committer: ada, seconds: 1_464_937_902, message };
  return [newCommit(draft), tree, ...blobs.map(({ blob }) => blob)];
}

async function write(dir: string, objects: NewObject[]): Promise<string> {
  await writeObjects(dir, objects);
  const sha = objects[0]?.sha ?? '';
  await git(dir, 'update-ref', 'refs/heads/master', sha);
  return sha;
}

const sizes = [1, 15, 16, 127, 2047, 2048, 70_000, 5 * 1024 * 1024];

test('objects of every size are written as they are', async (t) => {
  const dir = await bench.repository();
  const contents = Object.fromEntries(sizes.map((size) => [`of-${size}`, randomBytes(size)]));
  const sha = await write(dir, commitOf(contents));
  t.is(await git(dir, 'fsck', '--full', '--strict'), '');
  for (const size of sizes) t.is(await git(dir, 'cat-file', '-s', `${sha}:of-${size}`), String(size));
  t.deepEqual(await readdir(join(dir, 'objects/pack')), []);
});

test('many objects are kept as one pack, and those that come twice are written once', async (t) => {
  const dir = await bench.repository();
  const names = Array.from({ length: 100 }, (_, index) => `file-${index}`);
  const contents = Object.fromEntries(names.map((name, index) => [name, Buffer.from(`${index % 50}`)]));
  await write(dir, commitOf(contents));
  t.is(await git(dir, 'fsck', '--full', '--strict'), '');
  const packs = (await readdir(join(dir, 'objects/pack'))).filter((name) => name.endsWith('.pack'));
  t.is(packs.length, 1);
  t.regex(await git(dir, 'count-objects', '-v'), /^count: 0$[\s\S]*^in-pack: 52$/m);
});

const harmful: Record<string, Record<string, Buffer>> = {
  'a file in the place of its own folder': { '.GIT': Buffer.from('x') },
  'a name that some file systems take for it': { 'git~1': Buffer.from('x') },
  'a submodule that runs a program': {
    '.gitmodules': Buffer.from('[submodule "x"]\n\tpath = x\n\turl = --upload-pack=evil\n'),
  },
};

for (const [what, contents] of Object.entries(harmful)) {
  test(`git refuses ${what}, as it does of a push`, async (t) => {
    const dir = await bench.repository();
    const objects = commitOf(contents);
    await t.throwsAsync(writeObjects(dir, objects), { instanceOf: GitError });
    const more = Array.from({ length: 40 }, (_, index) => [`file-${index}`, Buffer.from(`${index}`)]);
    const many = commitOf({ ...contents, ...Object.fromEntries(more) });
    await t.throwsAsync(writeObjects(dir, many), { instanceOf: GitError });
  });
}

const oddPeople: [given: Person, shown: string][] = [
  [{ name: 'Ada <x> Lovelace\n', email: 'a da@example.org>' }, 'Ada x Lovelace <ada@example.org>'],
  [{ name: '', email: '' }, 'unnamed <>'],
  [{ name: ' .,"\' ', email: 'x' }, 'unnamed <x>'],
  [{ name: 'Łukasz\u0000\u0007 O’Neill, Jr.', email: 'ł@example.org' }, 'Łukasz O’Neill, Jr <ł@example.org>'],
  [{ name: 'a'.repeat(40), email: 'x\tparent' }, `${'a'.repeat(40)} <xparent>`],
];

for (const [given, shown] of oddPeople) {
  test(`a commit of ${JSON.stringify(given)} is one that git takes`, async (t) => {
    const dir = await bench.repository();
    const sha = await write(dir, commitOf({ a: Buffer.from('a') }, given, 'One\r\n\r\nTwo'));
    t.is(await git(dir, 'fsck', '--full', '--strict'), '');
    t.is(
      await git(dir, 'log', '-1', '--format=%an <%ae> %ad|%cn|%B', '--date=raw', sha),
      `${shown} 1464937902 +0000|Ada Lovelace|One\n\nTwo`,
    );
  });
}
