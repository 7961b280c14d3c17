import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { CatFile } from '../../server/git/cat-file.ts';
import { TreeDraft } from '../../server/git/tree-draft.ts';
import { formatTree, parseTree, type TreeEntry } from '../../server/git/tree-object.ts';
import { newObject, writeObjects } from '../../server/git/write-objects.ts';
import { git, gitWithInput, makeBench } from './real-git.ts';

const bench = await makeBench();
const objects = new CatFile({ maxProcesses: 4 });
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

type Files = Map<string, TreeEntry>;

/** @returns the draft, and how many trees it has read. */
function draftOf(dir: string, base: string | null): { draft: TreeDraft; read: string[] } {
  const read: string[] = [];
  const readTree = async (sha: string) => {
    read.push(sha);
    return parseTree((await objects.readObject(dir, sha))?.data ?? Buffer.alloc(0));
  };
  return { draft: new TreeDraft(readTree, base), read };
}

/** The tree that git's own index makes of files. */
async function treeOf(workTree: string, files: Files): Promise<string> {
  const lines = [...files].map(([path, { mode, sha }]) => `${mode} ${sha}\t${path}\0`);
  await git(workTree, 'read-tree', '--empty');
  await gitWithInput(workTree, ['update-index', '-z', '--index-info'], lines.join(''));
  return git(workTree, 'write-tree');
}

// Around the sign that stands behind a folder's name where git sorts.
const segment = fc.constantFrom('a', 'a.b', 'a-b', 'a0', 'a b', 'A', 'ü', '"', '\n', '-x', 'ab', '日本');
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const blobs = ['one', 'two', 'three'].map((text) => newObject('blob', Buffer.from(text)));
const entry: fc.Arbitrary<TreeEntry> = fc.record({
  mode: fc.constantFrom('100644', '100755', '120000'),
  sha: fc.constantFrom(...blobs.map(({ sha }) => sha)),
});
const step = fc.record({ path, entry: fc.option(entry) });

/** Whether there is a folder at the path, or no folder above it. */
function isBlocked(files: Files, at: string): boolean {
  return [...files.keys()].some((other) => other.startsWith(`${at}/`) || at.startsWith(`${other}/`));
}

test('random changes of random trees make the trees that git makes', async (t) => {
  const workTree = await bench.workTree();
  const dir = join(workTree, '.git');
  await writeObjects(dir, blobs);
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 25 }),
    fc.array(step, { minLength: 1, maxLength: 15 }),
    async (before, steps) => {
      const files: Files = new Map();
      for (const { path, entry } of before) if (entry && !isBlocked(files, path)) files.set(path, entry);
      const base = files.size === 0 ? null : await treeOf(workTree, files);
      const { draft } = draftOf(dir, base);
      for (const { path, entry } of steps) {
        const known = files.get(path) ?? null;
        const found = await draft.find(path);
        t.deepEqual(found === 'folder' ? null : found, known);
        if (entry === null) {
          if (known) await draft.remove(path);
          files.delete(path);
        } else if (found !== 'folder') {
          t.is(await draft.put(path, entry), !isBlocked(files, path));
          if (!isBlocked(files, path)) files.set(path, entry);
        }
      }
      const { treeId, trees } = await draft.finish();
      t.is(treeId, await treeOf(workTree, files));
      await writeObjects(dir, [...trees, ...blobs]);
      t.is((await objects.readInfo(dir, treeId))?.type, 'tree');
    },
  );
  await fc.assert(property, { numRuns: 40 });
  t.is(await git(workTree, 'fsck', '--full', '--strict', '--no-dangling'), '');
});

test('only the folders on the way to a change are read and written', async (t) => {
  const workTree = await bench.workTree();
  const dir = join(workTree, '.git');
  await writeObjects(dir, blobs);
  const files: Files = new Map();
  for (let index = 0; index < 400; index += 1) {
    files.set(`d${index % 20}/e${index}/file`, { mode: '100644', sha: blobs[0]?.sha ?? '' });
  }
  const { draft, read } = draftOf(dir, await treeOf(workTree, files));
  await draft.put('d7/e27/file', { mode: '100644', sha: blobs[1]?.sha ?? '' });
  const { trees } = await draft.finish();
  t.is(read.length, 3);
  t.is(trees.length, 3);
});

test('what changes back is no change', async (t) => {
  const workTree = await bench.workTree();
  const dir = join(workTree, '.git');
  const base = await git(workTree, 'rev-parse', 'HEAD^{tree}');
  const { draft } = draftOf(dir, base);
  await draft.put('new/file', { mode: '100644', sha: blobs[0]?.sha ?? '' });
  await draft.remove('new/file');
  t.deepEqual(await draft.finish(), { treeId: base, trees: [] });
});

test('names that are no UTF-8 stay as they are, and are found by their letters', async (t) => {
  const entry = { mode: '100644', sha: blobs[0]?.sha ?? '' };
  const bytes = formatTree(new Map([['caf\xe9', entry]]));
  const dir = await bench.repository();
  const base = newObject('tree', bytes);
  await writeObjects(dir, [base, ...blobs]);
  const { draft } = draftOf(dir, base.sha);
  t.deepEqual(await draft.find('café'), entry);
  await draft.put('café', { ...entry, mode: '100755' });
  const { trees } = await draft.finish();
  t.deepEqual([...parseTree(trees[0]?.data ?? Buffer.alloc(0)).keys()], ['caf\xe9']);
});

test('a folder that an old tool wrote with a zero in front is a folder', async (t) => {
  const { filled } = bench;
  const { dir, sha } = await filled();
  const inner = await git(dir, 'rev-parse', `${sha}^{tree}`);
  const old = newObject('tree', Buffer.concat([Buffer.from('040000 sub\0'), Buffer.from(inner, 'hex')]));
  await writeObjects(dir, [old]);
  t.is(await draftOf(dir, old.sha).draft.find('sub'), 'folder');
  t.not(await draftOf(dir, old.sha).draft.find('sub/README'), null);
});
