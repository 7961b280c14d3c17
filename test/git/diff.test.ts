import test from 'ava';
import { CatFile } from '../../server/git/cat-file.ts';
import { commitLimits, type DiffLimits, diffOf, emptyTree } from '../../server/git/diff.ts';
import { GitError } from '../../server/git/errors.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';
import { git, gitWithInput, makeBench } from './real-git.ts';

const bench = await makeBench();
const objects = new CatFile();
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

type Files = NonNullable<ImportedCommit['files']>;

/** What changed between two states. */
async function changes(before: Files, after: Files, limits: Partial<DiffLimits> = {}) {
  const dir = await bench.repository();
  const [from = '', to = ''] = await importCommits(dir, 'master', [{ files: before }, { files: after }]);
  return diffOf(objects, { dir, from, to }, { ...commitLimits, ...limits });
}

const plain = { isNew: false, isRenamed: false, isDeleted: false, isTooLarge: false, hasNewContent: true };
const file = { oldMode: '100644', newMode: '100644' };
const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');

test('added, changed and deleted files', async (t) => {
  const { files, isIncomplete } = await changes({ a: '1\n', b: '2\n' }, { a: null, b: '3\n', c: '4\n' });
  t.false(isIncomplete);
  t.deepEqual(files, [
    {
      ...plain,
      oldPath: 'a',
      newPath: 'a',
      oldMode: '100644',
      newMode: '0',
      isDeleted: true,
      diff: '--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n',
    },
    { ...plain, ...file, oldPath: 'b', newPath: 'b', diff: '--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+3\n' },
    {
      ...plain,
      oldPath: 'c',
      newPath: 'c',
      oldMode: '0',
      newMode: '100644',
      isNew: true,
      diff: '--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+4\n',
    },
  ]);
});

test('a file that moved, as it was and with a change', async (t) => {
  const { files } = await changes(
    { old: lines(20), other: lines(20, 'word') },
    { old: null, new: lines(20), other: null, 'x/other': `${lines(20, 'word')}more\n` },
  );
  const [same, changed] = files;
  t.like(same, { ...plain, oldPath: 'old', newPath: 'new', isRenamed: true, hasNewContent: false, diff: '' });
  t.like(changed, { ...plain, ...file, oldPath: 'other', newPath: 'x/other', isRenamed: true });
  t.true(changed?.diff.startsWith('--- a/other\n+++ b/x/other\n@@ -18,3 +18,4 @@'));
});

test('what has no lines: a mode, an empty file, bytes', async (t) => {
  const { files } = await changes(
    { mode: 'x\n', gone: '', bytes: Buffer.from([1, 0, 2]) },
    { mode: { mode: '100755', content: 'x\n' }, gone: null, made: '', bytes: Buffer.from([1, 0, 3]) },
  );
  t.deepEqual(
    files.map(({ newPath, diff, isTooLarge }) => [newPath, diff, isTooLarge]),
    [
      ['bytes', 'Binary files a/bytes and b/bytes differ\n', false],
      ['made', '', false],
      ['mode', '', false],
    ],
  );
  t.like(files[1], { oldPath: 'gone', isRenamed: true });
  t.like(files[2], { oldMode: '100644', newMode: '100755' });
});

test('a file that became a link goes away and comes anew; submodules show their commits', async (t) => {
  const { files } = await changes(
    { a: 'x\n', sub: { mode: '160000', content: '1'.repeat(40) } },
    { a: { mode: '120000', content: 'b' }, sub: { mode: '160000', content: '2'.repeat(40) } },
  );
  t.deepEqual(
    files.map(({ newPath, oldMode, newMode, isNew, isDeleted, diff }) => [
      newPath,
      oldMode,
      newMode,
      isNew,
      isDeleted,
      diff,
    ]),
    [
      ['a', '100644', '0', false, true, '--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n'],
      [
        'a',
        '0',
        '120000',
        true,
        false,
        '--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n',
      ],
      [
        'sub',
        '160000',
        '160000',
        false,
        false,
        `--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit ${'1'.repeat(40)}\n+Subproject commit ${'2'.repeat(40)}\n`,
      ],
    ],
  );
});

test('names are as they are, whatever stands in them', async (t) => {
  const names = ['-p', ' ', 'a "b"\tc', 'diff --git a\nb', 'ü/ü', '\\', 'u\u0308'];
  const { files } = await changes({}, Object.fromEntries(names.map((name) => [name, `${name}\n`])));
  t.deepEqual(files.map(({ newPath }) => newPath).sort(), names.sort());
  for (const { diff } of files) t.regex(diff, /^--- \/dev\/null\n\+\+\+ /);
});

test('lines that look like the beginning of a patch are lines', async (t) => {
  const tricky = 'diff --git a/x b/x\n--- a/x\n+++ b/x\nBinary files a/x and b/x differ\n@@ -1 +1 @@\n';
  const { files } = await changes({ a: '-- a\n', b: 'x\n' }, { a: tricky, b: 'y\n' });
  t.is(files.length, 2);
  t.true(files[0]?.diff.includes('\n--- a\n+diff --git a/x b/x\n+--- a/x\n++++ b/x\n'));
  t.is(files[1]?.diff, '--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n');
});

test('lines in another encoding are read as latin-1, the others as they are', async (t) => {
  const { files } = await changes(
    { a: Buffer.from('ü\n') },
    { a: Buffer.concat([Buffer.from('ü\n'), Buffer.from([0xe9, 0x0a])]) },
  );
  t.is(files[0]?.diff, '--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n ü\n+é\n');
});

test('names that are no UTF-8 are shown too', async (t) => {
  const dir = await bench.repository();
  const blob = (await gitWithInput(dir, ['hash-object', '-w', '--stdin'], 'x\n')).trim();
  const entry = Buffer.concat([Buffer.from(`100644 blob ${blob}\tcaf`), Buffer.from([0xe9, 0x0a])]);
  const tree = (await gitWithInput(dir, ['mktree'], entry)).trim();
  const { files } = await diffOf(objects, { dir, from: emptyTree, to: tree }, commitLimits);
  t.is(files[0]?.newPath, 'café');
});

test('a very large file is told of without its lines, those after it with theirs', async (t) => {
  const long = 'x'.repeat(3_000_000);
  const { files, isIncomplete } = await changes({}, { a: `${long}\n${long}`, b: lines(20_000), c: 'c\n' });
  t.deepEqual(
    files.map(({ newPath, diff, isTooLarge }) => [newPath, diff.length > 0, isTooLarge]),
    [
      ['a', false, true],
      ['b', false, true],
      ['c', true, false],
    ],
  );
  t.false(isIncomplete);
});

// Alone, as so many bytes hold up the timers of others.
test.serial('a file that git finds too big to look into is too large on either side', async (t) => {
  const limit = 32 * 1024 * 1024;
  const text = Buffer.alloc(limit + 8, 'a line\n');
  const sign = Buffer.from([1, 0, 2]);
  const { files } = await changes(
    { both: text, gone: text, shrunk: text, small: sign },
    {
      both: Buffer.concat([text, Buffer.from('more\n')]),
      gone: null,
      grown: Buffer.concat([text, Buffer.from('other\n')]),
      limit: text.subarray(0, limit),
      moved: { mode: '100755', content: text },
      shrunk: 'a line\n',
      small: Buffer.from([1, 0, 3]),
    },
  );
  t.deepEqual(
    files.map(({ newPath, diff, isTooLarge }) => [newPath, diff, isTooLarge]),
    [
      ['both', '', true],
      ['grown', '', true],
      ['limit', '', true],
      ['moved', '', false],
      ['shrunk', '', true],
      ['small', 'Binary files a/small and b/small differ\n', false],
    ],
  );
  t.like(files[3], { oldPath: 'gone', isRenamed: true });
});

test.serial('a big file that comes or goes is too large', async (t) => {
  const text = Buffer.alloc(33 * 1024 * 1024, 'a line\n');
  const [made] = (await changes({}, { big: text })).files;
  t.like(made, { isNew: true, diff: '', isTooLarge: true });
  const [gone] = (await changes({ big: text }, { big: null })).files;
  t.like(gone, { isDeleted: true, diff: '', isTooLarge: true });
});

test('a diff is left out from 102,400 bytes on', async (t) => {
  const head = '--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n';
  const fitting = `${'x'.repeat(102_400 - head.length - 3)}\n`;
  const [below] = (await changes({}, { a: fitting })).files;
  t.is(below?.diff.length, 102_399);
  t.like((await changes({}, { a: `x${fitting}` })).files[0], { diff: '', isTooLarge: true });
});

test('after so many files nothing more is told, and it is said so', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`f${index}`, `${index}\n`]));
  const whole = await changes({}, many, { files: 5 });
  t.deepEqual([whole.files.length, whole.isIncomplete], [5, false]);
  const cut = await changes({}, many, { files: 3 });
  t.deepEqual([cut.files, cut.isIncomplete], [whole.files.slice(0, 3), true]);
});

test('lines and bytes of all files together are bounded', async (t) => {
  const after = { a: lines(10), b: lines(10), c: lines(10), d: { mode: '100755', content: 'd\n' } };
  for (const limits of [{ lines: 30 }, { bytes: 700 }]) {
    const { files, isIncomplete } = await changes({ d: 'd\n' }, after, limits);
    t.true(isIncomplete);
    t.deepEqual(
      files.map(({ diff, isTooLarge }) => [diff !== '', isTooLarge]),
      [
        [true, false],
        [true, false],
        [false, true],
        [false, false],
      ],
    );
  }
});

test('a comparison that takes too long gives what there is', async (t) => {
  // Of which git has read much more than any timer waits before it has a line to show.
  const full = (line: string) => ({ a: Buffer.alloc(16 * 2 ** 20, line) });
  const { files, isIncomplete } = await changes(full('an old line\n'), full('a new line\n'), {
    timeoutMs: 0,
  });
  t.true(isIncomplete);
  t.deepEqual(
    files.filter(({ diff }) => diff !== ''),
    [],
  );
});

test('nobody waits for a client that has gone', async (t) => {
  const { dir, sha } = await bench.filled();
  const signal = AbortSignal.abort();
  await t.throwsAsync(diffOf(objects, { dir, from: emptyTree, to: sha, signal }, commitLimits), {
    any: true,
  });
});

test('what is not there, or no id, is a fault', async (t) => {
  const { dir, sha } = await bench.filled();
  for (const from of ['1'.repeat(40), 'master', '--output=/tmp/x']) {
    await t.throwsAsync(diffOf(objects, { dir, from, to: sha }, commitLimits), { instanceOf: GitError });
  }
});

test('attributes and settings of the repository start no programs', async (t) => {
  const dir = await bench.repository();
  await git(dir, 'config', 'diff.x.textconv', 'echo converted');
  await git(dir, 'config', 'diff.x.command', 'echo external');
  const attributes = { '.gitattributes': '* diff=x\n', a: '1\n' };
  const [from = '', to = ''] = await importCommits(dir, 'master', [
    { files: attributes },
    { files: { a: '2\n' } },
  ]);
  const { files } = await diffOf(objects, { dir, from, to }, commitLimits);
  t.is(files[0]?.diff, '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n');
});
