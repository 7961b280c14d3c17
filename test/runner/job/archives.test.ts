import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { ZipFile } from 'yazl';
import type { FileEntry } from '../../../runner/executor/executor.ts';
import { archiveName, wantsArtifacts } from '../../../runner/job/artifacts.ts';
import { selectFiles } from '../../../runner/job/file-patterns.ts';
import { readZip, type ZipLimits } from '../../../runner/job/read-zip.ts';
import { writeZip } from '../../../runner/job/write-zip.ts';
import { file } from '../../support/file-entries.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const mtime = new Date(1_600_000_000_000);

async function* each(list: FileEntry[]): AsyncGenerator<FileEntry> {
  yield* list;
}

async function readAll(path: string, limits?: ZipLimits): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of readZip(path, limits)) {
    const content = entry.content ? await text(entry.content) : '';
    found.push(
      [entry.type, entry.path, entry.mode.toString(8), entry.linkTarget ?? content].join(' ').trim(),
    );
  }
  return found;
}

async function zipped(t: ExecutionContext, list: FileEntry[]): Promise<string> {
  const path = join(await temporaryFolder(t), 'a.zip');
  await pipeline(writeZip(each(list)), createWriteStream(path));
  return path;
}

test('kinds, modes, times, links and contents survive the archive', async (t) => {
  const path = await zipped(t, [
    { path: 'out', type: 'directory', mode: 0o750, mtime, size: 0 },
    file('out/run.sh', 'echo', { mode: 0o755 }),
    { path: 'out/link', type: 'symlink', mode: 0o777, mtime, size: 0, linkTarget: '../x' },
    file('ü ß.txt', 'é'),
    file('empty', ''),
  ]);
  t.deepEqual(await readAll(path), [
    'directory out 750',
    'file out/run.sh 755 echo',
    'symlink out/link 777 ../x',
    'file ü ß.txt 644 é',
    'file empty 644',
  ]);
  for await (const entry of readZip(path)) {
    t.is(entry.mtime.getTime(), mtime.getTime());
    entry.content?.destroy();
  }
});

test('entries that are not read are skipped', async (t) => {
  const path = await zipped(t, [file('a', 'x'.repeat(100_000)), file('b', 'y')]);
  const names: string[] = [];
  for await (const entry of readZip(path)) names.push(entry.path);
  t.deepEqual(names, ['a', 'b']);
});

test('an archive is made while it is read, not before', async (t) => {
  let made = 0;
  async function* endless(): AsyncGenerator<FileEntry> {
    for (;;) {
      made += 1;
      yield file(`f${made}`, `${Math.random()}`.repeat(5000));
    }
  }
  const zip = writeZip(endless());
  for await (const chunk of zip) {
    t.true((chunk as Buffer).length > 0);
    break;
  }
  t.true(zip.destroyed);
  t.true(made < 100);
});

test('a fault while files are read breaks the archive off', async (t) => {
  async function* broken(): AsyncGenerator<FileEntry> {
    yield file('a', 'a');
    throw new Error('container is gone');
  }
  await t.throwsAsync(buffer(writeZip(broken())), { message: 'container is gone' });
});

test('a file that cannot be read breaks the archive off', async (t) => {
  const content = new Readable({ read() {} });
  content.destroy(new Error('no permission'));
  await t.throwsAsync(buffer(writeZip(each([file('a', '', { content })]))), { message: 'no permission' });
});

/** yazl refuses bad names: they are written first and changed in the bytes. */
async function renamed(t: ExecutionContext, name: string, to: string): Promise<string> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('x'), name, { compress: false });
  zip.end();
  const bytes = (await buffer(zip.outputStream as Readable)).toString('latin1').replaceAll(name, to);
  const path = join(await temporaryFolder(t), 'bad.zip');
  await writeFile(path, bytes, 'latin1');
  return path;
}

for (const [name, bad] of [
  ['aaaaaaaa', '../../ab'],
  ['bbbbbbbb', '/etc/pwd'],
  ['cccccccc', 'a/../../'],
  ['dddddddd', '..\\..\\ab'.slice(0, 8)],
] as const) {
  test(`an archive with a path like ${bad} is refused`, async (t) => {
    await t.throwsAsync(readAll(await renamed(t, name, bad)));
  });
}

test('an archive that writes through its own link is refused', async (t) => {
  const link: FileEntry = { path: 'link', type: 'symlink', mode: 0o777, mtime, size: 0, linkTarget: '/etc' };
  const path = await zipped(t, [link, file('link/passwd', 'x')]);
  await t.throwsAsync(readAll(path), { message: /own link/ });
});

test('count and size have limits', async (t) => {
  const path = await zipped(t, [file('a', '12345'), file('b', '12345')]);
  await t.throwsAsync(readAll(path, { entries: 1, bytes: 100 }), { message: /more than 1 files/ });
  await t.throwsAsync(readAll(path, { entries: 10, bytes: 9 }), { message: /more than 9 bytes/ });
  t.is((await readAll(path, { entries: 2, bytes: 10 })).length, 2);
});

test('what is no archive is an error', async (t) => {
  const path = join(await temporaryFolder(t), 'x.zip');
  await writeFile(path, 'no archive at all, though long enough to look like one');
  await t.throwsAsync(readAll(path));
});

const projectDir = '/builds/group/hello';

function select(patterns: string[], paths: string[]) {
  const warnings: string[] = [];
  const selection = selectFiles(patterns, { projectDir, warn: (line) => warnings.push(line) });
  const taken = paths.filter(selection.includes);
  return { taken, warnings, roots: selection.roots, unmatched: selection.unmatched() };
}

const tree = [
  'a.txt',
  '.hidden',
  'out',
  'out/b.txt',
  'out/deep',
  'out/deep/c.txt',
  'lib/x.js',
  '.git',
  '.git/config',
];

for (const [patterns, wanted] of [
  [['a.txt'], ['a.txt']],
  [['out'], ['out', 'out/b.txt', 'out/deep', 'out/deep/c.txt']],
  [['out/'], ['out', 'out/b.txt', 'out/deep', 'out/deep/c.txt']],
  [['./out/*.txt'], ['out/b.txt']],
  [['**/*.txt'], ['a.txt', 'out/b.txt', 'out/deep/c.txt']],
  [['out/d*'], ['out/deep', 'out/deep/c.txt']],
  [
    ['*.{js,txt}', 'lib/?.js'],
    ['a.txt', 'lib/x.js'],
  ],
  [['[.]hidden'], ['.hidden']],
  [[`${projectDir}/lib`], ['lib/x.js']],
  [['.'], tree.filter((path) => !path.startsWith('.git'))],
  [['*'], tree.filter((path) => !path.startsWith('.git'))],
  [['.git/config'], []],
] as [string[], string[]][]) {
  test(`the paths ${patterns.join(' ')} take the right files`, (t) => {
    t.deepEqual(select(patterns, tree).taken, wanted);
  });
}

test('patterns that lead out of the project are left out with a warning', (t) => {
  const { taken, warnings } = select(['../x', '/etc/passwd', `${projectDir}-other/a`, 'a/../../b'], tree);
  t.deepEqual(taken, []);
  t.is(warnings.length, 4);
});

test('patterns without a match are known afterwards', (t) => {
  t.deepEqual(select(['a.txt', '*.txt', 'nothing/*'], tree).unmatched, ['nothing/*']);
});

test('only the directories that can hold matches are visited, each once', (t) => {
  t.deepEqual(select(['out/deep/*.txt', 'out/deep/c.txt', 'lib'], []).roots, ['lib', 'out/deep']);
  t.deepEqual(select(['**/x', 'lib'], []).roots, ['']);
});

test('whatever a pattern looks like, reading it does not fail', (t) => {
  const part = fc.constantFrom(
    '*',
    '**',
    '?',
    '[',
    ']',
    '{',
    '}',
    ',',
    '(',
    ')',
    '!',
    '\\',
    '/',
    'a',
    '.',
    '+',
    '@',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      t.notThrows(() => select([parts.join('')], tree));
    }),
  );
});

test('when decides about success and failure', (t) => {
  const paths = ['x'];
  t.true(wantsArtifacts({ paths }, true));
  t.false(wantsArtifacts({ paths }, false));
  t.false(wantsArtifacts({ paths, when: 'on_failure' }, true));
  t.true(wantsArtifacts({ paths, when: 'on_failure' }, false));
  t.true(wantsArtifacts({ paths, when: 'always' }, true));
  t.true(wantsArtifacts({ paths, when: 'always' }, false));
  t.false(wantsArtifacts({ when: 'always' }, true));
  t.true(wantsArtifacts({ untracked: true }, true));
});

test('the archive is called after the last part of its name', (t) => {
  t.is(archiveName(undefined), 'artifacts.zip');
  t.is(archiveName(''), 'artifacts.zip');
  t.is(archiveName('feature/x'), 'x.zip');
  t.is(archiveName('a/..'), 'artifacts.zip');
});
