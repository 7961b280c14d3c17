import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { CatFile } from '../../server/git/cat-file.ts';
import { GitError } from '../../server/git/errors.ts';
import { parseTree, type Tree, type TreeEntry } from '../../server/git/tree.ts';
import { listBelow, TooManyEntries } from '../../server/git/tree-listing.ts';
import { findPath } from '../../server/git/tree-path.ts';
import { environment } from '../support/git.ts';
import { emptyBlob as blob, submodule, writeBlob, writeTree } from '../support/trees.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

const objects = new CatFile();
test.after.always(() => objects.close());

/** As `git ls-tree -z` prints them. */
function asLines(entries: readonly TreeEntry[]): string[] {
  return entries.map((entry) => `${entry.mode} ${entry.type} ${entry.id}\t${entry.rawName}`);
}

async function listed(dir: string, ...args: string[]): Promise<string[]> {
  const options = { cwd: dir, env: environment, encoding: 'latin1', maxBuffer: 1024 ** 3 } as const;
  const { stdout } = await promisify(execFile)('git', ['ls-tree', '-z', ...args], options);
  return stdout.split('\0').slice(0, -1);
}

async function read(dir: string, id: string): Promise<Tree> {
  const tree = await objects.readTree(dir, id);
  if (!tree) throw new Error(`no tree ${id}`);
  return tree;
}

function raw(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const name = fc
  .oneof(
    {
      weight: 4,
      arbitrary: fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...'ab-.0 "\n') }),
    },
    { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 4, unit: 'grapheme' }).map(raw) },
    {
      weight: 1,
      arbitrary: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('\u00e9', '\u00ff', 'a') }),
    },
  )
  .filter((text) => !/[\0/]/.test(text) && !/^\.{1,2}$/.test(text) && !/^\.git/i.test(text));

type Node = { kind: string } | Map<string, Node>;

const leaf: fc.Arbitrary<Node> = fc
  .constantFrom('100644', '100755', '120000', '160000')
  .map((kind) => ({ kind }));
const { node } = fc.letrec<{ node: Node; folder: Map<string, Node> }>((tie) => ({
  node: fc.oneof({ maxDepth: 3 }, leaf, tie('folder')),
  folder: fc
    .array(fc.tuple(name, tie('node')), { minLength: 1, maxLength: 6 })
    .map((pairs) => new Map(pairs)),
}));
const root = fc.array(fc.tuple(name, node), { maxLength: 8 }).map((pairs) => new Map(pairs));

async function store(dir: string, folder: Map<string, Node>): Promise<string> {
  const lines: string[] = [];
  for (const [entryName, entry] of folder) {
    if (entry instanceof Map) lines.push(`040000 tree ${await store(dir, entry)}\t${entryName}`);
    else if (entry.kind === '160000') lines.push(`160000 commit ${submodule}\t${entryName}`);
    else lines.push(`${entry.kind} blob ${blob}\t${entryName}`);
  }
  return writeTree(dir, lines);
}

test('random trees are read as git reads them, one level and all levels, in whatever pages', async (t) => {
  const dir = await bench.repository();
  const property = fc.asyncProperty(root, fc.integer({ min: 1, max: 7 }), async (folder, limit) => {
    const id = await store(dir, folder);
    const { entries } = await read(dir, id);
    t.deepEqual(asLines(entries), await listed(dir, id));
    const expected = await listed(dir, '-r', '-t', id);
    const walk = { objects, dir, tree: id, prefix: '', signal: new AbortController().signal };
    const all = await listBelow(walk, { offset: 0, limit: 1_000_000 });
    t.is(all.total, expected.length);
    t.deepEqual(
      all.entries.map(({ mode, type, id: sha, path }) => `${mode} ${type} ${sha}\t${path}`),
      expected.map(shownLine),
    );
    const pages: string[] = [];
    for (let offset = 0; offset < expected.length + limit; offset += limit) {
      const page = await listBelow(walk, { offset, limit });
      t.is(page.total, expected.length);
      pages.push(...page.entries.map(({ path }) => path));
    }
    t.deepEqual(
      pages,
      all.entries.map(({ path }) => path),
    );
  });
  await fc.assert(property, { numRuns: 40 });
});

/** The paths of a listing are as they are shown, so git's are read likewise, name by name. */
function shownLine(line: string): string {
  const [facts = '', path = ''] = line.split(/\t(.*)/s);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const names = path.split('/').map((part) => {
    try {
      return decoder.decode(Buffer.from(part, 'latin1'));
    } catch {
      return part;
    }
  });
  return `${facts}\t${names.join('/')}`;
}

test('one level shows folders, then files, then submodules, each by the bytes of its name', async (t) => {
  const dir = await bench.repository();
  const empty = await writeTree(dir, []);
  const id = await writeTree(dir, [
    `160000 commit ${submodule}\ta-module`,
    `100644 blob ${blob}\tB`,
    `040000 tree ${empty}\ta`,
    `120000 blob ${blob}\ta.link`,
    `040000 tree ${empty}\ta-b`,
    `100755 blob ${blob}\t${raw('é')}`,
    `040000 tree ${empty}\tZ`,
  ]);
  const { listed: shown } = await read(dir, id);
  t.deepEqual(
    shown.map((entry) => `${entry.mode} ${entry.type} ${entry.name}`),
    [
      '040000 tree Z',
      '040000 tree a',
      '040000 tree a-b',
      '100644 blob B',
      '120000 blob a.link',
      '100755 blob é',
      '160000 commit a-module',
    ],
  );
});

test('of two names that are shown alike, the one in UTF-8 is found, and a lone one in latin-1 too', async (t) => {
  const dir = await bench.repository();
  const other = await writeBlob(dir, 'other');
  const both = await read(
    dir,
    await writeTree(dir, [`100644 blob ${blob}\té`, `100644 blob ${other}\t${raw('é')}`]),
  );
  t.is(both.find('é')?.id, other);
  const lone = await read(dir, await writeTree(dir, [`100644 blob ${blob}\tcafé`]));
  t.is(lone.find('café')?.id, blob);
  t.is(lone.find('cafe\u0301'), null);
});

test('modes of old programs are read as git reads them', (t) => {
  const line = (mode: string) => Buffer.concat([Buffer.from(`${mode} a\0`), Buffer.alloc(20, 1)]);
  const read = (mode: string) => parseTree(line(mode)).entries[0];
  t.like(read('40000'), { mode: '040000', type: 'tree', id: '01'.repeat(20) });
  t.like(read('040000'), { mode: '040000', type: 'tree' });
  t.like(read('100664'), { mode: '100644', type: 'blob' });
  t.like(read('100775'), { mode: '100755', type: 'blob' });
});

test('bytes that are no tree are refused', (t) => {
  for (const text of ['100644', '100644 a', '100644 a\0short', 'x\0y']) {
    t.throws(() => parseTree(Buffer.from(text)), { instanceOf: GitError }, text);
  }
  t.deepEqual(parseTree(Buffer.alloc(0)).entries, []);
});

test('a path leads through folders alone, and never upwards', async (t) => {
  const dir = await bench.repository();
  const inner = await writeTree(dir, [`100644 blob ${blob}\tfile`, `120000 blob ${blob}\tlink`]);
  const id = await writeTree(dir, [
    `040000 tree ${inner}\tdir`,
    `160000 commit ${submodule}\tmodule`,
    `100644 blob ${blob}\tfile`,
  ]);
  const commit = await git(dir, 'commit-tree', '-m', 'Trees', id);
  const typeAt = async (...path: string[]) => (await findPath(objects, dir, { commit, path }))?.type ?? null;
  t.is(await typeAt(), 'tree');
  t.is(await typeAt('dir'), 'tree');
  t.is(await typeAt('dir', 'file'), 'blob');
  t.is(await typeAt('module'), 'commit');
  for (const path of ['file/x', 'module/x', 'dir/link/x', 'dir/..', 'dir/../file', '.', '', 'dir/', 'DIR']) {
    t.is(await typeAt(...path.split('/')), null, path);
  }
});

test('a repository that claims to have more files than anybody can count costs nothing', async (t) => {
  const dir = await bench.repository();
  let id = await writeTree(
    dir,
    Array.from({ length: 10 }, (_, at) => `100644 blob ${blob}\tf${at}`),
  );
  const nest = async () =>
    writeTree(
      dir,
      Array.from({ length: 10 }, (_, at) => `040000 tree ${id}\td${at}`),
    );
  for (let depth = 0; depth < 5; depth += 1) id = await nest();
  const walk = { objects, dir, prefix: '', signal: new AbortController().signal };
  const { total, entries } = await listBelow({ ...walk, tree: id }, { offset: 1_000_000, limit: 3 });
  t.is(total, 1_111_110);
  t.deepEqual(
    entries.map(({ path }) => path),
    (await listed(dir, '-r', '-t', id)).slice(1_000_000, 1_000_003).map((line) => line.split('\t')[1] ?? ''),
  );
  for (let depth = 0; depth < 5; depth += 1) id = await nest();
  await t.throwsAsync(listBelow({ ...walk, tree: id }, { offset: 0, limit: 3 }), {
    instanceOf: TooManyEntries,
  });
});

test('a walk ends when nobody waits for it', async (t) => {
  const { dir, sha } = await bench.filled();
  const tree = await git(dir, 'rev-parse', `${sha}^{tree}`);
  const walk = { objects, dir, tree, prefix: '', signal: AbortSignal.abort() };
  await t.throwsAsync(listBelow(walk, { offset: 0, limit: 1 }), { any: true, name: 'AbortError' });
});

test('trees are kept in bounded memory, and read again once they have gone', async (t) => {
  const dir = await bench.repository();
  const small = new CatFile({ treeMemory: 50_000 });
  t.teardown(() => small.close());
  const ids: string[] = [];
  for (let at = 0; at < 20; at += 1) {
    const lines = Array.from({ length: 40 }, (_, file) => `100644 blob ${blob}\tf${at}-${file}`);
    ids.push(await writeTree(dir, lines));
  }
  const first = await small.readTree(dir, ids[0] ?? '');
  t.is(await small.readTree(dir, ids[0] ?? ''), first);
  for (const id of ids) t.is((await small.readTree(dir, id))?.entries.length, 40);
  const again = await small.readTree(dir, ids[0] ?? '');
  t.not(again, first);
  t.deepEqual(again?.entries, first?.entries);
  t.is(await small.readTree(dir, blob), null);
  t.is(await small.readTree(dir, '2'.repeat(40)), null);
});
